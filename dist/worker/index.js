import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
var __webpack_exports__ = {};

;// CONCATENATED MODULE: external "node:worker_threads"
const external_node_worker_threads_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:worker_threads");
;// CONCATENATED MODULE: ./build/js/engine/errors.js
/**
 * Every failure that a user can meet, as data: a stable code, what it concerns, and the cause. Errors cross thread
 * boundaries and end up in reports, so they convert to plain JSON and back. Anything else that is thrown is a bug in
 * this program and is reported as one.
 */
/** An expected failure. `message` is one line, names its subject, and never holds a secret. */
class errors_CheckoutError extends Error {
    code;
    subject;
    constructor(code, message, subject = {}, cause) {
        super(message, cause === undefined ? undefined : { cause });
        this.name = 'CheckoutError';
        this.code = code;
        this.subject = subject;
    }
    toJSON() {
        return { code: this.code, message: this.message, subject: this.subject };
    }
    static fromJSON(json) {
        return new errors_CheckoutError(json.code, json.message, json.subject);
    }
}
/** The errno code of a Node system error ('ENOENT'), or undefined for anything else. */
function errnoOf(error) {
    if (!(error instanceof Error) || !('code' in error))
        return undefined;
    return typeof error.code === 'string' ? error.code : undefined;
}
/** Wraps a system error on `path` into one line; passes a CheckoutError through unchanged. */
function errors_ioError(action, path, error) {
    if (error instanceof errors_CheckoutError)
        return error;
    const errno = errnoOf(error);
    const detail = errno ?? (error instanceof Error ? error.message : String(error));
    return new errors_CheckoutError('io', `cannot ${action} '${path}': ${detail}`, errno === undefined ? { path } : { path, errno }, error);
}
/** A broken invariant of this program, never the user's fault. */
function errors_bug(what) {
    return new Error(`BUG in parallel-checkout: ${what}`);
}

;// CONCATENATED MODULE: external "node:v8"
const external_node_v8_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:v8");
;// CONCATENATED MODULE: ./build/js/engine/checkout/cost-meter.js
/**
 * What one thread's part of a run costs: wall and CPU time, waiting, memory. Counted by the thread itself and sent with its last
 * message, so that nothing is lost or charged to another.
 */

/** Measures what a run of a writer costs. */
class CostMeter {
    #id;
    #start;
    #cpuStart = threadCpuUsage();
    #peak = 0;
    constructor(id) {
        this.#id = id;
        this.#start = performance.now();
    }
    /**
     * Looks at what this thread's heap and buffers take now: about 5 microseconds. Buffers that threads share count in each of
     * them; here that is the tables, about 100 bytes for an entry.
     */
    sample() {
        const heap = (0,external_node_v8_namespaceObject.getHeapStatistics)();
        const bytes = heap.total_heap_size + heap.external_memory;
        if (bytes > this.#peak)
            this.#peak = bytes;
    }
    cost(writer) {
        this.sample();
        const cpu = threadCpuUsage();
        return {
            id: this.#id,
            files: writer.files,
            bytesWritten: writer.bytesWritten,
            wallMs: performance.now() - this.#start,
            cpuUserMs: (cpu.user - this.#cpuStart.user) / 1000,
            cpuSystemMs: (cpu.system - this.#cpuStart.system) / 1000,
            waitMs: writer.waitMs,
            peakMemoryBytes: this.#peak,
        };
    }
}
/** CPU time of this thread in microseconds; of the process on a Node that cannot tell threads apart (before 23.9). */
function threadCpuUsage() {
    const { threadCpuUsage: ofThread } = process;
    return ofThread === undefined ? process.cpuUsage() : ofThread.call(process);
}

;// CONCATENATED MODULE: ./build/js/engine/bytes.js
/**
 * Small operations on byte ranges. Paths, names and contents are bytes here, because git's are: a path need not be
 * valid UTF-8, and turning a million of them into strings would cost more than writing the files.
 */
/** A Buffer over the same memory, for Node calls that take a Buffer. No copy. */
function bufferOver(bytes, start = 0, end = bytes.length) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}
/** Bytes in display form for messages: UTF-8 with invalid sequences replaced, control characters escaped. */
function displayBytes(bytes) {
    const text = bufferOver(bytes).toString('utf8');
    // eslint-disable-next-line no-control-regex -- control characters are what must not reach a terminal or a log
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
        return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
    });
}
/**
 * Gives a large buffer's memory back at once rather than when garbage is next collected: moving it into a buffer of
 * length 0 frees it. Node 20 cannot; there it is left to the collector. (A resizable buffer could be shrunk, but code
 * that has met one is slower for every other buffer from then on: 0.6 s of 3.0 s CPU on the Linux tree.)
 */
function freeLarge(bytes) {
    const { transfer } = bytes.buffer;
    transfer?.call(bytes.buffer, 0);
}

;// CONCATENATED MODULE: ./build/js/engine/oid.js
/** Length in bytes of a raw SHA-1 object id. */
const oid_OID_BYTES = 20;
const HEX_OID = /^[0-9a-f]{40}$/;
/** True for exactly 40 lower-case hexadecimal digits. */
function isHexOid(text) {
    return HEX_OID.test(text);
}
/** 40 hexadecimal digits -> 20 bytes. The caller has checked the digits. */
function oidFromHex(hex) {
    return new Uint8Array(Buffer.from(hex, 'hex'));
}
/** The id that starts at `offset` of `bytes`, as 40 hexadecimal digits. */
function oidToHex(bytes, offset = 0) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + offset, oid_OID_BYTES).toString('hex');
}
/** Whether the ids at two places are equal. */
function oidEquals(a, aOffset, b, bOffset) {
    for (let i = 0; i < oid_OID_BYTES; i++)
        if (a[aOffset + i] !== b[bOffset + i])
            return false;
    return true;
}

;// CONCATENATED MODULE: ./build/js/engine/filter/ident.js



const DOLLAR = 0x24;
const COLON = 0x3a;
const SPACE = 0x20;
const LF = 0x0a;
const LETTER_I = 0x49;
const LETTER_D = 0x64;
/** `Id: <hex> $`, what follows the opening dollar of an expanded keyword. */
function expansion(oid, oidOffset) {
    return Buffer.from(`Id: ${oidToHex(oid, oidOffset)} $`, 'latin1');
}
/**
 * Pushes `content[0, length)` with its keywords expanded, as git does with content in memory. Returns how many were
 * expanded.
 */
function expandInCore(content, length, oid, oidOffset, sink) {
    const bytes = bufferOver(content, 0, length);
    let count = 0;
    let expanded = null;
    // What is before `from` has been pushed.
    let from = 0;
    let at = 0;
    for (;;) {
        const dollar = bytes.indexOf(DOLLAR, at);
        if (dollar < 0)
            break;
        at = dollar + 1;
        if (length - at < 3 || bytes[at] !== LETTER_I || bytes[at + 1] !== LETTER_D)
            continue;
        let next;
        if (bytes[at + 2] === DOLLAR) {
            next = at + 3;
        }
        else if (bytes[at + 2] === COLON) {
            const close = bytes.indexOf(DOLLAR, at + 3);
            if (close < 0)
                break;
            if (hasByte(bytes, LF, at + 3, close))
                continue;
            // A space inside, other than the last byte, is the sign of another system's keyword, which is kept. The search
            // goes on right after the opening dollar, so that the closing one may open the next.
            const space = firstByte(bytes, SPACE, at + 4, close);
            if (space >= 0 && space < close - 1)
                continue;
            next = close + 1;
        }
        else {
            continue;
        }
        expanded ??= expansion(oid, oidOffset);
        sink.push(bytes, from, at);
        sink.push(expanded, 0, expanded.length);
        count++;
        at = next;
        from = next;
    }
    sink.push(bytes, from, length);
    return count;
}
function firstByte(bytes, byte, start, end) {
    for (let i = start; i < end; i++)
        if (bytes[i] === byte)
            return i;
    return -1;
}
function hasByte(bytes, byte, start, end) {
    return firstByte(bytes, byte, start, end) >= 0;
}
/** The bytes that git's stream matches: the fourth is the string's terminator, a bug that a NUL in content meets. */
const HEAD = Uint8Array.of(DOLLAR, LETTER_I, LETTER_D, 0);
const HEAD_LENGTH = 3;
/** `$Id: ` at the start is what a keyword of another system is known by. */
const FOREIGN_HEAD = Uint8Array.of(DOLLAR, LETTER_I, LETTER_D, COLON, SPACE);
/** After `$Id:`, up to the closing dollar or the end of the line. */
const COLLECTING = -1;
/** The same, once it is known that the text is kept. */
const PASSING = -2;
/** Room for held bytes to begin with. */
const FIRST_HELD = 256;
/** Held bytes from which on it is tried to let go of text that is certainly kept, again at each doubling. */
const RELEASE_FROM = 64 * 1024;
/**
 * Most bytes held by default. git has no bound here. Text that gets so long without a dollar, a line feed or a space
 * after `$Id:` is made up, and can still be converted with the whole content in memory.
 */
const HELD_LIMIT = 16 * 1024 * 1024;
/** git's stream filter for ident: pieces in, the same bytes with keywords expanded out, whatever the pieces. */
class IdentStream {
    /** Whether the output differs from the input. */
    changed = false;
    #sink;
    #expanded;
    #drainSize;
    #limit;
    /** COLLECTING, PASSING, or how many bytes of HEAD were matched last. */
    #state = 0;
    /** Bytes taken in whose fate is open. Before a match in progress there can be earlier ones, such as `$IdX`. */
    #held = new Uint8Array(FIRST_HELD);
    #heldLength = 0;
    #releaseFrom = RELEASE_FROM;
    /**
     * `drainSize` is the size of the buffer that git drains this filter into: 1024 when another filter follows, else 16384.
     * It shows in a bug at the end of content. `limit` bounds what is held.
     */
    constructor(sink, oid, oidOffset, drainSize, limit = HELD_LIMIT) {
        this.#sink = sink;
        this.#expanded = expansion(oid, oidOffset);
        this.#drainSize = drainSize;
        this.#limit = limit;
    }
    /**
     * Takes in `bytes[start, end)`.
     *
     * @throws CheckoutError 'memory' when more would have to be held than the limit
     */
    push(bytes, start, end) {
        const view = bufferOver(bytes, start, end);
        const { length } = view;
        for (let at = 0; at < length;) {
            if (this.#state < 0) {
                at = this.#skip(view, at);
                continue;
            }
            if (this.#state === 0 && this.#heldLength === 0) {
                let dollar = view.indexOf(DOLLAR, at);
                if (dollar < 0)
                    dollar = length;
                this.#sink.push(view, at, dollar);
                if (dollar === length)
                    return;
                this.#state = 1;
                at = dollar + 1;
                continue;
            }
            this.#step(view, at);
            at++;
        }
    }
    /** Ends the content. */
    end() {
        const drained = this.#heldLength;
        this.#release();
        if (this.#state <= 0)
            return;
        // The part of HEAD matched last goes out. git adds it again each time that it fills its buffer.
        let left = drained;
        for (;;) {
            left += this.#state;
            this.#sink.push(HEAD, 0, this.#state);
            if (left <= this.#drainSize)
                break;
            left -= this.#drainSize;
            this.changed = true;
        }
        this.#state = 0;
    }
    #step(bytes, at) {
        const state = this.#state;
        const byte = bytes[at];
        if (state < HEAD.length && byte === HEAD[state]) {
            this.#state++;
            return;
        }
        this.#state = 0;
        if (state === HEAD_LENGTH) {
            if (byte === DOLLAR) {
                this.#release();
                this.#expand();
                return;
            }
            this.#hold(HEAD, 0, HEAD_LENGTH);
            this.#hold(bytes, at, at + 1);
            if (byte === COLON)
                this.#state = COLLECTING;
            return;
        }
        this.#release();
        this.#sink.push(HEAD, 0, state);
        this.#sink.push(bytes, at, at + 1);
    }
    /** Goes on to the end of a keyword's text; returns the position after what was taken. */
    #skip(bytes, at) {
        let end = at;
        while (end < bytes.length && bytes[end] !== DOLLAR && bytes[end] !== LF)
            end++;
        const closed = end < bytes.length;
        if (closed)
            end++;
        if (this.#state === PASSING) {
            this.#sink.push(bytes, at, end);
            if (closed)
                this.#state = 0;
            return end;
        }
        this.#hold(bytes, at, end);
        if (closed) {
            if (bytes[end - 1] === DOLLAR && !this.#isForeign()) {
                // Whatever was held before the keyword is lost with its text, as in git.
                this.#heldLength = 0;
                this.#expand();
            }
            else {
                this.#release();
            }
            this.#state = 0;
        }
        else if (this.#heldLength >= this.#releaseFrom) {
            this.#releaseFrom = 2 * this.#heldLength;
            if (this.#isForeign()) {
                this.#release();
                this.#state = PASSING;
            }
        }
        return end;
    }
    /** Whether the held text is a keyword of another system: a blank in it that is not right before the dollar. */
    #isForeign() {
        const held = this.#held;
        if (this.#heldLength < FOREIGN_HEAD.length)
            return false;
        for (let i = 0; i < FOREIGN_HEAD.length; i++)
            if (held[i] !== FOREIGN_HEAD[i])
                return false;
        for (let i = FOREIGN_HEAD.length; i + 1 < this.#heldLength; i++) {
            const byte = held[i];
            // git looks at it as a string, which a NUL ends.
            if (byte === 0)
                return false;
            if ((byte === SPACE || byte === 0x09 || byte === 0x0d) && held[i + 1] !== DOLLAR)
                return true;
        }
        return false;
    }
    #expand() {
        this.changed = true;
        this.#sink.push(HEAD, 0, 1);
        this.#sink.push(this.#expanded, 0, this.#expanded.length);
    }
    #release() {
        this.#sink.push(this.#held, 0, this.#heldLength);
        this.#heldLength = 0;
        this.#releaseFrom = RELEASE_FROM;
    }
    #hold(bytes, start, end) {
        const length = this.#heldLength + end - start;
        if (length > this.#limit) {
            throw new errors_CheckoutError('memory', `an unfinished $Id$ keyword is longer than ${this.#limit} bytes`);
        }
        if (length > this.#held.length) {
            const larger = new Uint8Array(Math.max(length, 2 * this.#held.length));
            larger.set(this.#held.subarray(0, this.#heldLength));
            this.#held = larger;
        }
        this.#held.set(bytes.subarray(start, end), this.#heldLength);
        this.#heldLength = length;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/filter/sinks.js

const NUL = 0x00;
const sinks_LF = 0x0a;
const CR = 0x0d;
const SUBSTITUTE = 0x1a;
const IS_LF = 1;
const IS_NONPRINTABLE = 1 << 10;
const IS_CR_OR_NUL = 1 << 20;
/** Bytes whose marks are added up in one number; each mark then has ten bits to itself. */
const BLOCK = 512;
/** By byte: a line feed, a control character other than BS, TAB, LF, FF, CR and ESC (or DEL), a CR or NUL. */
const MARKS = Int32Array.from({ length: 256 }, (_, byte) => {
    if (byte === sinks_LF)
        return IS_LF;
    if (byte === CR || byte === NUL)
        return IS_CR_OR_NUL;
    const printable = (byte >= 0x20 && byte !== 0x7f) || byte === 0x08 || byte === 0x09 || byte === 0x0c || byte === 0x1b;
    return printable ? 0 : IS_NONPRINTABLE;
});
/**
 * Line feeds that automatic conversion turns into CR LF in `content[0, length)`: all, or none (0) when the content has a
 * CR, or a NUL, or so many control characters that git takes it for binary.
 */
function autoLineFeeds(content, length) {
    let lineFeeds = 0;
    let nonprintable = 0;
    for (let at = 0; at < length;) {
        const end = Math.min(length, at + BLOCK);
        let marks = 0;
        for (; at < end; at++)
            marks += MARKS[content[at]];
        if (marks >= IS_CR_OR_NUL)
            return 0;
        lineFeeds += marks & (IS_NONPRINTABLE - 1);
        nonprintable += marks >> 10;
    }
    return looksBinary(length, lineFeeds, nonprintable, length > 0 ? content[length - 1] : 0) ? 0 : lineFeeds;
}
/** git's guess for content without CR and NUL: more than one control character in 128 others. */
function looksBinary(length, lineFeeds, nonprintable, last) {
    const printable = length - lineFeeds - nonprintable;
    const counted = last === SUBSTITUTE ? nonprintable - 1 : nonprintable;
    return Math.floor(printable / 128) < counted;
}
/** Line feeds of `content[0, length)` that no CR stands before. */
function bareLineFeeds(content, length) {
    let count = 0;
    let previous = 0;
    for (let at = 0; at < length;) {
        const start = at;
        const end = Math.min(length, at + BLOCK);
        let marks = 0;
        for (; at < end; at++)
            marks += MARKS[content[at]];
        if (marks < IS_CR_OR_NUL && previous !== CR) {
            count += marks & (IS_NONPRINTABLE - 1);
            previous = content[end - 1];
            continue;
        }
        for (let i = start; i < end; i++) {
            const byte = content[i];
            if (byte === sinks_LF && previous !== CR)
                count++;
            previous = byte;
        }
    }
    return count;
}
/**
 * Copies `bytes[start, end)` to `out` from `at` on, each LF that no CR stands before as CR LF. `previous` is the byte
 * before `start`. Returns where it ended. `out` must be large enough.
 */
function copyWithCrlf(bytes, start, end, previous, out, at) {
    for (let i = start; i < end; i++) {
        const byte = bytes[i];
        if (byte === sinks_LF && previous !== CR)
            out[at++] = CR;
        out[at++] = byte;
        previous = byte;
    }
    return at;
}
/** Measures: everything that deciding about line ends and the size of the result needs. */
class Measure {
    length = 0;
    bareLineFeeds = 0;
    #lineFeeds = 0;
    #nonprintable = 0;
    #hasCrOrNul = false;
    #last = 0;
    push(bytes, start, end) {
        let previous = this.#last;
        for (let i = start; i < end; i++) {
            const byte = bytes[i];
            if (byte === sinks_LF) {
                this.#lineFeeds++;
                if (previous !== CR)
                    this.bareLineFeeds++;
            }
            else if (MARKS[byte] === IS_NONPRINTABLE) {
                this.#nonprintable++;
            }
            else if (byte === CR || byte === NUL) {
                this.#hasCrOrNul = true;
            }
            previous = byte;
        }
        this.#last = previous;
        this.length += end - start;
    }
    /** As `autoLineFeeds`, of all that was pushed. */
    get autoLineFeeds() {
        if (this.#hasCrOrNul)
            return 0;
        return looksBinary(this.length, this.#lineFeeds, this.#nonprintable, this.#last) ? 0 : this.#lineFeeds;
    }
}
/** Writes into memory that has room for all of it. */
class MemoryWriter {
    /** Bytes written. */
    length = 0;
    #out;
    #crlf;
    #last = 0;
    constructor(out, crlf) {
        this.#out = out;
        this.#crlf = crlf;
    }
    push(bytes, start, end) {
        if (start === end)
            return;
        if (this.#crlf) {
            this.length = copyWithCrlf(bytes, start, end, this.#last, this.#out, this.length);
        }
        else {
            this.#out.set(bytes.subarray(start, end), this.length);
            this.length += end - start;
        }
        this.#last = bytes[end - 1];
    }
}
/** Bytes that a PieceWriter gathers before it hands them on: large enough that write calls do not matter. */
const PIECE = 64 * 1024;
/** The buffer of the writer that ended last: files follow one another, and fresh memory costs more than filling it. */
let spare = null;
/** Hands content on in pieces of bounded size. */
class PieceWriter {
    /** Takes a piece, valid during the call only. */
    write = () => undefined;
    #piece;
    #crlf;
    #length = 0;
    #last = 0;
    constructor(crlf) {
        this.#crlf = crlf;
        this.#piece = spare ?? new Uint8Array(PIECE);
        spare = null;
    }
    push(bytes, start, end) {
        if (this.#piece === null)
            throw errors_bug('content after its end');
        while (start < end) {
            // Each byte may become two.
            const room = this.#crlf ? (PIECE - this.#length) >> 1 : PIECE - this.#length;
            if (room === 0) {
                this.#flush(this.#piece);
                continue;
            }
            const stop = Math.min(end, start + room);
            if (this.#crlf) {
                this.#length = copyWithCrlf(bytes, start, stop, this.#last, this.#piece, this.#length);
            }
            else {
                this.#piece.set(bytes.subarray(start, stop), this.#length);
                this.#length += stop - start;
            }
            this.#last = bytes[stop - 1];
            start = stop;
        }
    }
    /** Hands on what is left. Nothing can be pushed after it. */
    end() {
        if (this.#piece === null)
            return;
        this.#flush(this.#piece);
        spare = this.#piece;
        this.#piece = null;
    }
    #flush(piece) {
        if (this.#length === 0)
            return;
        const length = this.#length;
        this.#length = 0;
        this.write(piece.subarray(0, length));
    }
}

;// CONCATENATED MODULE: ./build/js/engine/filter/convert.js




/** Stands in for an object id where only lengths count. */
const ANY_OID = new Uint8Array(20);
/**
 * Size in bytes of what `content[0, length)` is converted to, or -1 when it stays as it is.
 */
function convertedSize(conversion, content, length) {
    if (conversion.kind === 'none' || length === 0)
        return -1;
    refuseGit(conversion);
    if (conversion.ident && mayHaveKeyword(content, length)) {
        const measure = new Measure();
        const changed = pushIdent(conversion, content, length, ANY_OID, 0, measure);
        const added = addedByEol(conversion, measure);
        return changed || added > 0 ? measure.length + added : -1;
    }
    const added = lineFeedsToConvert(conversion, content, length);
    return added > 0 ? length + added : -1;
}
/**
 * Writes the converted form of `content[0, length)` to `out` and returns its size, which is the one that `convertedSize`
 * gave; `out` must have room for it. Not for content of which `convertedSize` said that it stays as it is.
 *
 * `oid[oidOffset, +20)` is what ident shows: the blob's id. In the in-core kind git shows the id of the actual bytes,
 * which is another one where a replace ref stands in for the blob.
 */
function convertInto(conversion, content, length, oid, oidOffset, out) {
    refuseGit(conversion);
    if (!conversion.ident || !mayHaveKeyword(content, length)) {
        if (conversion.crlf !== 'none')
            return copyWithCrlf(content, 0, length, 0, out, 0);
        out.set(content.subarray(0, length));
        return length;
    }
    let crlf = conversion.crlf === 'text';
    if (conversion.crlf === 'auto') {
        const measure = new Measure();
        pushIdent(conversion, content, length, ANY_OID, 0, measure);
        crlf = addedByEol(conversion, measure) > 0;
    }
    const writer = new MemoryWriter(out, crlf);
    pushIdent(conversion, content, length, oid, oidOffset, writer);
    return writer.length;
}
/**
 * A converter for one blob. `oid[oidOffset, +20)` is the blob's id. `identLimit` bounds what ident may hold, by default
 * 16 MiB.
 */
function createStreamConverter(conversion, oid, oidOffset, identLimit) {
    if (conversion.kind === 'none')
        return { push: (piece, write) => write(piece), end: () => undefined };
    if (conversion.kind !== 'stream')
        throw errors_bug(`content of the ${conversion.kind} kind cannot be converted in pieces`);
    const crlf = conversion.crlf === 'text';
    const writer = new PieceWriter(crlf);
    const ident = conversion.ident ? new IdentStream(writer, oid, oidOffset, drainSize(conversion), identLimit) : null;
    const first = ident ?? writer;
    return {
        push(piece, write) {
            writer.write = write;
            first.push(piece, 0, piece.length);
        },
        end(write) {
            writer.write = write;
            ident?.end();
            writer.end();
        },
    };
}
function drainSize(conversion) {
    return conversion.crlf === 'none' ? 16384 : 1024;
}
function refuseGit(conversion) {
    if (conversion.kind === 'git')
        throw errors_bug(`content that git must convert: ${conversion.reason ?? ''}`);
}
/** Both implementations leave content without a `$Id` alone. */
function mayHaveKeyword(content, length) {
    return bufferOver(content, 0, length).includes('$Id', 0, 'latin1');
}
/** Pushes the content with its keywords expanded; returns whether anything changed. */
function pushIdent(conversion, content, length, oid, oidOffset, sink) {
    if (conversion.kind === 'in-core')
        return expandInCore(content, length, oid, oidOffset, sink) > 0;
    const stream = new IdentStream(sink, oid, oidOffset, drainSize(conversion), Infinity);
    stream.push(content, 0, length);
    stream.end();
    return stream.changed;
}
function addedByEol(conversion, measure) {
    if (conversion.crlf === 'none')
        return 0;
    return conversion.crlf === 'auto' ? measure.autoLineFeeds : measure.bareLineFeeds;
}
function lineFeedsToConvert(conversion, content, length) {
    if (conversion.crlf === 'none')
        return 0;
    return conversion.crlf === 'auto' ? autoLineFeeds(content, length) : bareLineFeeds(content, length);
}

;// CONCATENATED MODULE: ./build/js/engine/index/index-table.js
/** Stat words per entry, in the order of the file. */
const index_table_STAT_WORDS = 10;
/** Place of each stat word within an entry's ten. */
const index_table_STAT = {
    ctimeSeconds: 0,
    ctimeNanoseconds: 1,
    mtimeSeconds: 2,
    mtimeNanoseconds: 3,
    dev: 4,
    ino: 5,
    mode: 6,
    uid: 7,
    gid: 8,
    size: 9,
};
/** Bits of `flags`; the name length in the low 12 bits is not kept. */
const FLAG = { assumeValid: 0x8000, extended: 0x4000, stage: 0x3000 };
const FLAG_STAGE_SHIFT = 12;
/** Bits of `extendedFlags`. */
const EXTENDED_FLAG = { skipWorktree: 0x4000, intentToAdd: 0x2000 };
/** Mode bits as git stores them. */
const index_table_MODE = {
    typeMask: 0o170000,
    directory: 0o040000,
    regular: 0o100000,
    symlink: 0o120000,
    gitlink: 0o160000,
};

;// CONCATENATED MODULE: ./build/js/engine/index/stat-words.js



const NANOSECONDS = 1000000000n;
/** SHA-1 of the empty blob: e69de29bb2d1d6434b8b29ae775ad8c2e48c5391. */
const EMPTY_BLOB = Uint8Array.from([
    0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53,
    0x91,
]);
/** Low 32 bits. Only values beyond 2^53 (64-bit inode numbers) take the slow way. */
function lowWord(value) {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number >>> 0 : Number(BigInt.asUintN(32, value));
}
/** Seconds, rounded down, and the nanoseconds that are left. */
function putTime(time, out, at) {
    let seconds = Number(time / NANOSECONDS);
    let rest = Number(time % NANOSECONDS);
    if (rest < 0) {
        // Before 1970, where bigint division rounds towards zero.
        seconds--;
        rest += 1e9;
    }
    out[at] = seconds;
    out[at + 1] = rest;
}
/** Low 32 bits of the size; a multiple of 4 GiB other than 0 is stored as 2^31, since 0 means "look at the content". */
function sizeWord(size) {
    const word = lowWord(size);
    return word === 0 && size !== 0n ? 0x8000_0000 : word;
}
/**
 * Writes the ten words of an entry from `fs.fstat` or `fs.lstat` with `bigint: true` into `out` at `at`. `entryMode` is
 * the mode of the index entry (not of the file). On Windows git stores the creation time as ctime and no device, inode
 * or owner, so those of Node (volume serial, file id) are left out.
 */
function statToWords(stat, platform, out, at, entryMode) {
    if (at + index_table_STAT_WORDS > out.length)
        throw errors_bug('stat words beyond their table');
    const windows = platform === 'win32';
    if (windows)
        putTime(stat.birthtimeNs, out, at + index_table_STAT.ctimeSeconds);
    else
        putTime(stat.ctimeNs, out, at + index_table_STAT.ctimeSeconds);
    putTime(stat.mtimeNs, out, at + index_table_STAT.mtimeSeconds);
    out[at + index_table_STAT.dev] = windows ? 0 : lowWord(stat.dev);
    out[at + index_table_STAT.ino] = windows ? 0 : lowWord(stat.ino);
    out[at + index_table_STAT.mode] = entryMode;
    out[at + index_table_STAT.uid] = windows ? 0 : lowWord(stat.uid);
    out[at + index_table_STAT.gid] = windows ? 0 : lowWord(stat.gid);
    out[at + index_table_STAT.size] = sizeWord(stat.size);
}
const scratch = new Uint32Array(index_table_STAT_WORDS);
/**
 * Whether what `lstat` (with `bigint: true`) says still is what the entry's words at `at` of `words` remember, by the
 * rules of git's ordinary build: seconds only, no device. The type and executable bit come from the entry's mode word.
 * `emptyBlob` says that the entry is the empty blob: a remembered size of 0 for any other content means "look at the
 * content" and is 'changed'. A gitlink is 'same' when a directory is there; its commit is not looked at.
 *
 * A 'same' entry may yet be racy (`isRacy`).
 */
function matchStat(words, at, stat, options, emptyBlob) {
    if (at + STAT_WORDS > words.length)
        throw bug('stat words beyond their table');
    const entryMode = words[at + STAT.mode];
    switch (entryMode & MODE.typeMask) {
        case MODE.regular:
            if (!stat.isFile())
                return 'changed';
            if (options.fileMode && ((entryMode ^ Number(stat.mode)) & 0o100) !== 0)
                return 'changed';
            break;
        case MODE.symlink:
            if (!stat.isSymbolicLink() && (options.symlinks || !stat.isFile()))
                return 'changed';
            break;
        case MODE.gitlink:
            return stat.isDirectory() ? 'same' : 'changed';
        default:
            return 'changed';
    }
    statToWords(stat, options.platform, scratch, 0, entryMode);
    const differs = (word) => words[at + word] !== scratch[word];
    if (differs(STAT.mtimeSeconds) || differs(STAT.size))
        return 'changed';
    if (!options.checkStatMinimal) {
        if (options.trustCtime && differs(STAT.ctimeSeconds))
            return 'changed';
        if (differs(STAT.uid) || differs(STAT.gid) || differs(STAT.ino))
            return 'changed';
    }
    if (words[at + STAT.size] === 0 && !emptyBlob)
        return 'changed';
    return 'same';
}
/** Whether the id at `offset` is that of the empty blob. */
function isEmptyBlob(oids, offset) {
    for (let i = 0; i < OID_BYTES; i++)
        if (oids[offset + i] !== EMPTY_BLOB[i])
            return false;
    return true;
}
/**
 * Whether an entry whose stat matches may still have been changed: its file was modified in the second in which the index
 * was written, or later. `indexMtimeSeconds` is that of the index which holds the entry; 0 (no file) makes nothing racy.
 * Who keeps such an entry in a new index must compare the content first, and store size 0 when it differs.
 */
function isRacy(words, at, indexMtimeSeconds) {
    if ((words[at + STAT.mode] & MODE.typeMask) === MODE.gitlink)
        return false;
    const written = indexMtimeSeconds >>> 0;
    return written !== 0 && written <= words[at + STAT.mtimeSeconds];
}

;// CONCATENATED MODULE: ./build/js/engine/object/tree.js

/** Modes as git writes them into an index; a tree entry is brought to one of these by its type bits. */
const MODE_FILE = 0o100644;
const MODE_EXECUTABLE = 0o100755;
const MODE_SYMLINK = 0o120000;
const MODE_TREE = 0o040000;
const MODE_GITLINK = 0o160000;
const TYPE_MASK = 0o170000;
/** What git makes of a mode: anything that is not a file, link or directory counts as a submodule. */
function canonicalMode(mode) {
    switch (mode & TYPE_MASK) {
        case 0o100000:
            return mode & 0o100 ? MODE_EXECUTABLE : MODE_FILE;
        case 0o120000:
            return MODE_SYMLINK;
        case 0o040000:
            return MODE_TREE;
        default:
            return MODE_GITLINK;
    }
}
/** Walks the entries of one tree; `next` fills the fields. */
class TreeCursor {
    bytes;
    /** Canonical mode. */
    mode = 0;
    /** Whether the mode is written as git writes it; other spellings make a tree that git would not write again. */
    isModeCanonical = true;
    /** The name is bytes[nameStart, nameEnd). */
    nameStart = 0;
    nameEnd = 0;
    /** The id starts at bytes[oidAt]. */
    oidAt = 0;
    #at = 0;
    constructor(bytes) {
        this.bytes = bytes;
    }
    /** Goes back to the first entry. */
    rewind() {
        this.#at = 0;
    }
    /**
     * Moves to the next entry.
     * @returns 1 at an entry, 0 at the end, -1 where the tree is not valid
     */
    next() {
        const { bytes } = this;
        const end = bytes.length;
        let at = this.#at;
        if (at >= end)
            return 0;
        let mode = 0;
        const modeStart = at;
        for (;;) {
            const byte = bytes[at++];
            if (byte === 0x20)
                break;
            if (byte === undefined || byte < 0x30 || byte > 0x37 || at - modeStart > 12)
                return -1;
            // Modes are 16 bits; more digits can only be leading zeros or garbage, which git cuts to the low bits too.
            mode = ((mode << 3) | (byte - 0x30)) & 0x3ffff;
        }
        if (at - modeStart < 2)
            return -1;
        const nameStart = at;
        while (at < end && bytes[at] !== 0)
            at++;
        if (at === nameStart || at + 1 + OID_BYTES > end)
            return -1;
        this.mode = canonicalMode(mode);
        this.isModeCanonical = mode === this.mode && nameStart - 1 - modeStart === (mode === MODE_TREE ? 5 : 6);
        this.nameStart = nameStart;
        this.nameEnd = at;
        this.oidAt = at + 1;
        this.#at = at + 1 + OID_BYTES;
        return 1;
    }
}

;// CONCATENATED MODULE: external "node:zlib"
const external_node_zlib_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:zlib");
;// CONCATENATED MODULE: ./build/js/engine/pack/inflate.js
/**
 * Inflates zlib streams whose output size is known, without an object per stream.
 *
 * Node offers `inflateSync`, which makes a new zlib state, a new output buffer and a few objects for each call: 470 MB/s
 * on the blobs of the Linux tree (Node 24), against 860 MB/s through one handle that is reset between streams. That handle
 * is not documented, so it is used in this file only, its shape is checked before use, and without it everything
 * goes through `inflateSync`. Both ways are tested.
 */

function openHandle() {
    const stream = (0,external_node_zlib_namespaceObject.createInflate)();
    const handle = stream._handle;
    const state = stream._writeState;
    if (typeof handle?.writeSync !== 'function' ||
        typeof handle.reset !== 'function' ||
        typeof handle.close !== 'function' ||
        !(state instanceof Uint32Array) ||
        state.length < 2) {
        return null;
    }
    return { handle: handle, state };
}
/**
 * The handle counts in 32 bits, and wraps without a word. Output beyond this goes into a view that begins further on, and no
 * more than this in one write.
 */
const MOST_OUTPUT = 0x7fffffff;
/** Inflates one stream after another. Not to be shared between threads; `close` frees the zlib state. */
class Inflater {
    /** Set by the last call: input bytes used, output bytes made. */
    consumed = 0;
    produced = 0;
    #open;
    #error = null;
    #useHandle;
    #spare = new Uint8Array(1);
    /** @param useHandle false forces the documented way (for tests and for runtimes without the handle) */
    constructor(useHandle = true) {
        this.#useHandle = useHandle;
        this.#open = null;
    }
    /** Whether the fast way is in use. */
    get usesHandle() {
        return this.#handle() !== null;
    }
    close() {
        this.#open?.handle.close();
        this.#open = null;
    }
    /**
     * Inflates the whole stream that starts at `input[start]` into `out[outStart, outStart + size)`.
     * `out` must have room for size + 1 bytes: the spare byte is what tells a longer stream from a complete one.
     * @returns null when the stream ended after exactly `size` bytes (`consumed` is then set), else why not
     */
    inflateExact(input, start, end, out, outStart, size) {
        const open = this.#handle();
        if (open === null)
            return this.#inflateExactSync(input, start, end, out, outStart, size);
        this.#error = null;
        open.handle.reset();
        if (!this.#write(open, external_node_zlib_namespaceObject.constants.Z_FINISH, input, start, end, out, outStart, size + 1))
            return this.#fail();
        if (this.produced !== size)
            return this.produced > size ? 'corrupt' : 'truncated';
        return null;
    }
    /** Begins a stream that is inflated in pieces by `step`. False where pieces are not possible (no handle). */
    begin() {
        const open = this.#handle();
        if (open === null)
            return false;
        this.#error = null;
        open.handle.reset();
        return true;
    }
    /**
     * Goes on with the stream of `begin`: takes from `input[start, end)`, gives to `out[outStart, outEnd)`, and sets
     * `consumed` and `produced`. The stream has ended when a step with room and input does nothing.
     * @returns null or why it failed
     */
    step(input, start, end, out, outStart, outEnd) {
        const open = this.#open;
        if (open === null)
            return 'corrupt';
        return this.#write(open, external_node_zlib_namespaceObject.constants.Z_SYNC_FLUSH, input, start, end, out, outStart, outEnd - outStart)
            ? null
            : this.#fail();
    }
    /** Whether the stream of `begin`, all of whose input was given, is complete: ended and its checksum right. */
    ended() {
        const open = this.#open;
        if (open === null)
            return false;
        open.handle.writeSync(external_node_zlib_namespaceObject.constants.Z_FINISH, this.#spare, 0, 0, this.#spare, 0, 1);
        if (this.#hasFailed()) {
            this.#fail();
            return false;
        }
        return open.state[0] === 1;
    }
    /** One write; sets `consumed` and `produced`. False when it failed. */
    #write({ handle, state }, flush, input, start, end, out, outStart, outLength) {
        if (outStart + outLength <= MOST_OUTPUT) {
            handle.writeSync(flush, input, start, end - start, out, outStart, outLength);
        }
        else {
            outLength = Math.min(outLength, MOST_OUTPUT);
            handle.writeSync(flush, input, start, end - start, out.subarray(outStart, outStart + outLength), 0, outLength);
        }
        if (this.#hasFailed())
            return false;
        this.produced = outLength - (state[0] ?? 0);
        this.consumed = end - start - (state[1] ?? 0);
        return true;
    }
    #handle() {
        if (!this.#useHandle)
            return null;
        if (this.#open === null) {
            this.#open = openHandle();
            if (this.#open !== null) {
                this.#open.handle.onerror = (_message, _errno, code) => {
                    this.#error = code;
                };
            }
        }
        return this.#open;
    }
    /** Whether the handle has called back with an error; a method, because the compiler cannot see that call. */
    #hasFailed() {
        return this.#error !== null;
    }
    /** A handle that has failed is not used again. */
    #fail() {
        const failure = this.#error === 'Z_BUF_ERROR' ? 'truncated' : 'corrupt';
        this.close();
        return failure;
    }
    #inflateExactSync(input, start, end, out, outStart, size) {
        try {
            const result = (0,external_node_zlib_namespaceObject.inflateSync)(input.subarray(start, end), {
                maxOutputLength: size + 1,
                info: true,
            });
            if (result.buffer.length !== size)
                return result.buffer.length > size ? 'corrupt' : 'truncated';
            out.set(result.buffer, outStart);
            this.produced = size;
            this.consumed = result.engine.bytesWritten;
            return null;
        }
        catch (error) {
            const code = error instanceof Error && 'code' in error ? error.code : undefined;
            if (code === 'ERR_BUFFER_TOO_LARGE')
                return 'corrupt';
            return code === 'Z_BUF_ERROR' ? 'truncated' : 'corrupt';
        }
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/delta.js

/** Copies shorter than this are done byte by byte; a call into native code costs more (about 60 ns). */
const NATIVE_COPY_BYTES = 24;
/** git refuses shorter ones: two sizes and one instruction of at least two bytes. */
const LEAST_DELTA_BYTES = 4;
/** The two sizes at the head of a delta; one instance is filled again and again. */
class DeltaSizes {
    baseSize = 0;
    resultSize = 0;
    /** Where the instructions begin. */
    instructionsAt = 0;
    /** @returns false when the delta is cut off or a size is out of range */
    parse(delta, start, end) {
        if (end - start < LEAST_DELTA_BYTES)
            return false;
        let cursor = start;
        for (let field = 0; field < 2; field++) {
            let value = 0;
            let scale = 1;
            let byte = 0x80;
            const first = cursor;
            while (byte & 0x80) {
                if (cursor >= end || cursor - first >= 8)
                    return false;
                byte = delta[cursor++] ?? 0;
                value += (byte & 0x7f) * scale;
                scale *= 128;
            }
            if (value > Number.MAX_SAFE_INTEGER)
                return false;
            if (field === 0)
                this.baseSize = value;
            else
                this.resultSize = value;
        }
        this.instructionsAt = cursor;
        return true;
    }
}
/**
 * Runs the instructions `delta[start, end)` over `base[baseStart, baseStart + baseSize)`, writing exactly `resultSize`
 * bytes to the beginning of `out`.
 * @returns false when the delta is not valid
 */
function applyDelta(base, baseStart, baseSize, delta, start, end, out, resultSize) {
    const target = { out, at: 0, end: resultSize, flush: null };
    return run(base, baseStart, baseSize, delta, start, end, resultSize, target);
}
/**
 * Like `applyDelta`, but the result passes through `piece` to `sink`, so that it need not be held.
 * @returns false when the delta is not valid; some of the result may have been given to `sink` by then
 */
function streamDelta(base, baseStart, baseSize, delta, start, end, resultSize, piece, sink) {
    const target = {
        out: piece,
        at: 0,
        end: piece.length,
        flush: (full) => {
            sink(piece.subarray(0, full.at));
            full.at = 0;
        },
    };
    if (!run(base, baseStart, baseSize, delta, start, end, resultSize, target))
        return false;
    if (target.at > 0)
        target.flush(target);
    return true;
}
function run(base, baseStart, baseSize, delta, start, end, resultSize, target) {
    const baseBuffer = bufferOver(base);
    const deltaBuffer = bufferOver(delta);
    let cursor = start;
    let left = resultSize;
    while (cursor < end) {
        const code = delta[cursor++] ?? 0;
        let size;
        let from;
        let source;
        if (code & 0x80) {
            let offset = 0;
            size = 0;
            if (code & 0x01)
                offset = delta[cursor++] ?? 0;
            if (code & 0x02)
                offset |= (delta[cursor++] ?? 0) << 8;
            if (code & 0x04)
                offset |= (delta[cursor++] ?? 0) << 16;
            // The fourth byte may set the sign bit; multiplying keeps the number positive.
            if (code & 0x08)
                offset += (delta[cursor++] ?? 0) * 0x1000000;
            if (code & 0x10)
                size = delta[cursor++] ?? 0;
            if (code & 0x20)
                size |= (delta[cursor++] ?? 0) << 8;
            if (code & 0x40)
                size |= (delta[cursor++] ?? 0) << 16;
            if (size === 0)
                size = 0x10000;
            if (cursor > end || offset + size > baseSize)
                return false;
            from = baseStart + offset;
            source = baseBuffer;
        }
        else if (code !== 0) {
            if (cursor + code > end)
                return false;
            size = code;
            from = cursor;
            source = deltaBuffer;
            cursor += code;
        }
        else {
            return false; // reserved
        }
        if (size > left)
            return false;
        left -= size;
        while (target.at + size > target.end) {
            // Only a target with `flush` can be smaller than what is left.
            const part = target.end - target.at;
            source.copy(target.out, target.at, from, from + part);
            target.at += part;
            from += part;
            size -= part;
            if (target.flush === null)
                return false;
            target.flush(target);
        }
        const { out, at } = target;
        if (size < NATIVE_COPY_BYTES) {
            for (let i = 0; i < size; i++)
                out[at + i] = source[from + i] ?? 0;
        }
        else {
            source.copy(out, at, from, from + size);
        }
        target.at = at + size;
    }
    return left === 0;
}

;// CONCATENATED MODULE: ./build/js/engine/pack/delta-base-cache.js
/** Pack number and offset in one number: offsets up to 2^44 bytes (16 TiB), 512 packs. */
function cacheKey(pack, offset) {
    return pack * 0x100000000000 + offset;
}
class DeltaBaseCache {
    memory;
    /** Set by `find`: the object is memory[start, start + size). */
    start = 0;
    size = 0;
    type = 0;
    #slots = new Map();
    /** Keys in the order of their places in the ring, oldest first. */
    #queue = [];
    #queueHead = 0;
    #next = 0;
    /** @param capacity bytes; 0 keeps nothing */
    constructor(capacity) {
        this.memory = new Uint8Array(capacity);
    }
    /** Finds an object and sets `start`, `size` and `type`. */
    find(key) {
        const slot = this.#slots.get(key);
        if (slot === undefined)
            return false;
        this.start = slot.start;
        this.size = slot.size;
        this.type = slot.type;
        return true;
    }
    /**
     * Copies an object, the first `size` bytes, in. Objects over an eighth of the ring are not kept: they would push out much
     * else. Nor are empty ones: they have no place in the ring by which they could be found to be the oldest.
     */
    put(key, type, bytes, size) {
        if (size === 0 || size > this.memory.length >> 3 || this.#slots.has(key))
            return;
        if (this.#next + size > this.memory.length) {
            this.#evict(this.#next, this.memory.length);
            this.#next = 0;
        }
        this.#evict(this.#next, this.#next + size);
        this.memory.set(bytes.subarray(0, size), this.#next);
        const slot = { key, start: this.#next, size, type };
        this.#slots.set(key, slot);
        this.#queue.push(slot);
        this.#next += size;
    }
    /** Drops the entries that lie in [from, to); they are the oldest ones. */
    #evict(from, to) {
        for (;;) {
            const oldest = this.#queue[this.#queueHead];
            if (oldest === undefined || oldest.start >= to || oldest.start + oldest.size <= from)
                break;
            this.#slots.delete(oldest.key);
            this.#queueHead++;
        }
        if (this.#queueHead > 1024 && this.#queueHead * 2 > this.#queue.length) {
            this.#queue = this.#queue.slice(this.#queueHead);
            this.#queueHead = 0;
        }
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/entry.js

/** Object types as a pack numbers them. */
const COMMIT = 1;
const TREE = 2;
const BLOB = 3;
const TAG = 4;
const OFS_DELTA = 6;
const REF_DELTA = 7;
/** A size of 8 bytes reaches as far as a number is exact (4 + 7 * 7 = 53 bits), and a distance of 8 further than any file. */
const MOST_VARINT_BYTES = 8;
/** Longest header: a size, then a distance or an object id. */
const MAX_ENTRY_HEADER_BYTES = MOST_VARINT_BYTES + Math.max(MOST_VARINT_BYTES, oid_OID_BYTES);
/** The name of an object type for messages. */
function typeName(type) {
    switch (type) {
        case COMMIT:
            return 'commit';
        case TREE:
            return 'tree';
        case BLOB:
            return 'blob';
        case TAG:
            return 'tag';
        default:
            return `type ${type}`;
    }
}
/** A decoded header; one instance is filled again and again. */
class EntryHeader {
    type = 0;
    /** Inflated size in bytes; for a delta the size of the delta itself. */
    size = 0;
    /** Length of the header in bytes, base reference included. */
    length = 0;
    /** OFS_DELTA: how far before this entry its base begins. */
    baseDistance = 0;
    /** REF_DELTA: where in the parsed bytes the base's id stands. */
    baseOidAt = 0;
    /**
     * Decodes the header that begins at `bytes[at]`.
     * @returns false when the bytes end too early or the header is not valid
     */
    parse(bytes, at, end) {
        let cursor = at;
        if (cursor >= end)
            return false;
        let byte = bytes[cursor++] ?? 0;
        const type = (byte >> 4) & 7;
        let size = byte & 15;
        // Sizes pass 32 bits, so multiply instead of shifting.
        let scale = 16;
        while (byte & 0x80) {
            if (cursor >= end || cursor - at >= MOST_VARINT_BYTES)
                return false;
            byte = bytes[cursor++] ?? 0;
            size += (byte & 0x7f) * scale;
            scale *= 128;
        }
        this.type = type;
        this.size = size;
        if (type === OFS_DELTA) {
            if (cursor >= end)
                return false;
            const first = cursor;
            byte = bytes[cursor++] ?? 0;
            let distance = byte & 0x7f;
            while (byte & 0x80) {
                if (cursor >= end || cursor - first >= MOST_VARINT_BYTES)
                    return false;
                byte = bytes[cursor++] ?? 0;
                distance = (distance + 1) * 128 + (byte & 0x7f);
            }
            this.baseDistance = distance;
        }
        else if (type === REF_DELTA) {
            if (cursor + oid_OID_BYTES > end)
                return false;
            this.baseOidAt = cursor;
            cursor += oid_OID_BYTES;
        }
        else if (type === 0 || type === 5) {
            return false;
        }
        this.length = cursor - at;
        return true;
    }
}

;// CONCATENATED MODULE: external "node:fs"
const external_node_fs_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");
;// CONCATENATED MODULE: ./build/js/engine/pack/pack-file.js
/**
 * An open .pack file: its descriptor, which threads share, and its bounds. Plain data, so that workers can be handed it.
 */



/** Signature, version, count. */
const PACK_HEADER_BYTES = 12;
const SIGNATURE = 0x5041434b; // "PACK"
/**
 * Opens a pack and checks it against its index: signature, version, number of objects, checksum (compared, not
 * computed: git does the same).
 * @throws CheckoutError object-corrupt, io
 */
function openPack(path, indexPath, index) {
    const corrupt = (how) => new CheckoutError('object-corrupt', `pack '${path}' ${how}`, { path });
    let fd;
    try {
        fd = openSync(path, 'r');
    }
    catch (error) {
        throw ioError('open', path, error);
    }
    try {
        const stat = fstatSync(fd);
        if (!stat.isFile())
            throw corrupt('is not a regular file');
        const size = stat.size;
        if (size < PACK_HEADER_BYTES + OID_BYTES)
            throw corrupt('is too small');
        const head = Buffer.alloc(PACK_HEADER_BYTES);
        readSync(fd, head, 0, PACK_HEADER_BYTES, 0);
        if (head.readUInt32BE(0) !== SIGNATURE)
            throw corrupt('does not begin with PACK');
        const version = head.readUInt32BE(4);
        if (version !== 2 && version !== 3)
            throw corrupt(`has version ${version}`);
        if (head.readUInt32BE(8) !== index.count)
            throw corrupt('and its index disagree about the number of objects');
        const trailer = Buffer.alloc(OID_BYTES);
        readSync(fd, trailer, 0, OID_BYTES, size - OID_BYTES);
        if (!trailer.equals(index.packChecksum()))
            throw corrupt('and its index disagree about its checksum');
        return { path, indexPath, fd, end: size - OID_BYTES };
    }
    catch (error) {
        closeSync(fd);
        throw ioError('read', path, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/pack-index.js
/**
 * A pack's index (.idx, gitformat-pack versions 1 and 2): which objects the pack holds and where.
 *
 * Small files are read whole; larger ones (a full history has hundreds of megabytes) are read in blocks as look-ups need them,
 * because Node cannot map files and the memory budget would not hold them.
 */



/** Read whole up to this size: 16 MB hold 570,000 objects, which a shallow pack of a large repository stays below. */
const WHOLE_FILE_BYTES = 16 << 20;
/** One block of a larger file; 16 KiB hold 819 ids, so an interpolated look-up needs one or two. */
const BLOCK_BYTES = 16 << 10;
/** Blocks kept: 4 MB. */
const BLOCKS_KEPT = 256;
const FANOUT_BYTES = 1024;
const HEADER_V2_BYTES = 8;
const SIGNATURE_V2 = 0xff744f63;
class PackIndex {
    /** Objects in the pack. */
    count;
    #path;
    #fd;
    #version;
    #size;
    #fanout;
    /** The whole file, or null where it is read in blocks. */
    #whole;
    #blocks = new Map();
    /** Set by `#locate`: the buffer and position where the wanted bytes are. */
    #buffer = Buffer.alloc(0);
    #at = 0;
    #straddle = Buffer.alloc(64);
    constructor(path, fd, size) {
        this.#path = path;
        this.#fd = fd;
        this.#size = size;
        const head = Buffer.alloc(Math.min(size, HEADER_V2_BYTES + FANOUT_BYTES));
        this.#readFully(head, 0);
        if (size < FANOUT_BYTES + 2 * oid_OID_BYTES)
            throw this.#corrupt('is too small');
        this.#version = head.readUInt32BE(0) === SIGNATURE_V2 ? 2 : 1;
        if (this.#version === 2 && head.readUInt32BE(4) !== 2)
            throw this.#corrupt('has an unknown version');
        const fanoutAt = this.#version === 2 ? HEADER_V2_BYTES : 0;
        if (size < fanoutAt + FANOUT_BYTES + 2 * oid_OID_BYTES)
            throw this.#corrupt('is too small');
        this.#fanout = new Uint32Array(256);
        let previous = 0;
        for (let i = 0; i < 256; i++) {
            const value = head.readUInt32BE(fanoutAt + 4 * i);
            if (value < previous)
                throw this.#corrupt('has a fan-out table out of order');
            this.#fanout[i] = previous = value;
        }
        this.count = previous;
        const fixed = fanoutAt + FANOUT_BYTES + 2 * oid_OID_BYTES;
        if (this.#version === 1) {
            if (size !== fixed + this.count * (4 + oid_OID_BYTES))
                throw this.#corrupt('has a wrong size');
        }
        else {
            const least = fixed + this.count * (oid_OID_BYTES + 4 + 4);
            const most = least + Math.max(0, this.count - 1) * 8;
            if (size < least || size > most)
                throw this.#corrupt('has a wrong size');
        }
        if (size <= WHOLE_FILE_BYTES) {
            this.#whole = Buffer.allocUnsafeSlow(size);
            this.#readFully(this.#whole, 0);
        }
        else {
            this.#whole = null;
        }
    }
    /**
     * Opens an index file and checks its shape (not its checksum, as git).
     * @throws CheckoutError object-corrupt, io
     */
    static open(path) {
        let fd;
        try {
            fd = (0,external_node_fs_namespaceObject.openSync)(path, 'r');
        }
        catch (error) {
            throw errors_ioError('open', path, error);
        }
        try {
            return new PackIndex(path, fd, (0,external_node_fs_namespaceObject.fstatSync)(fd).size);
        }
        catch (error) {
            (0,external_node_fs_namespaceObject.closeSync)(fd);
            throw errors_ioError('read', path, error);
        }
    }
    close() {
        (0,external_node_fs_namespaceObject.closeSync)(this.#fd);
        this.#blocks.clear();
    }
    /** The pack's checksum as this index states it: the last but one hash of the file. */
    packChecksum() {
        this.#locate(this.#size - 2 * oid_OID_BYTES, oid_OID_BYTES);
        return Buffer.from(this.#buffer.subarray(this.#at, this.#at + oid_OID_BYTES));
    }
    /**
     * Finds an object.
     * @param oid bytes that hold the id from `oidAt`
     * @returns its offset in the pack, or -1
     */
    find(oid, oidAt) {
        const first = oid[oidAt] ?? 0;
        let low = first === 0 ? 0 : (this.#fanout[first - 1] ?? 0);
        let high = this.#fanout[first] ?? 0;
        const bucketLow = low;
        const bucketSize = high - low;
        // Ids are uniformly distributed, so the first probe goes where the next 24 bits say; then halve.
        let probe = bucketLow +
            Math.floor((bucketSize * (((oid[oidAt + 1] ?? 0) << 16) | ((oid[oidAt + 2] ?? 0) << 8) | (oid[oidAt + 3] ?? 0))) /
                0x1000000);
        while (low < high) {
            const order = this.#compareAt(probe, oid, oidAt);
            if (order === 0)
                return this.offsetAt(probe);
            if (order < 0)
                low = probe + 1;
            else
                high = probe;
            probe = (low + high) >>> 1;
        }
        return -1;
    }
    /** Offset in the pack of the object at a position of the sorted table. */
    offsetAt(position) {
        if (this.#version === 1) {
            this.#locate(FANOUT_BYTES + position * (4 + oid_OID_BYTES), 4);
            return this.#buffer.readUInt32BE(this.#at);
        }
        const offsets = HEADER_V2_BYTES + FANOUT_BYTES + this.count * (oid_OID_BYTES + 4);
        this.#locate(offsets + position * 4, 4);
        const word = this.#buffer.readUInt32BE(this.#at);
        if (word < 0x80000000)
            return word;
        const largeAt = offsets + this.count * 4 + (word - 0x80000000) * 8;
        if (largeAt + 8 > this.#size - 2 * oid_OID_BYTES)
            throw this.#corrupt('points past its table of large offsets');
        this.#locate(largeAt, 8);
        const high = this.#buffer.readUInt32BE(this.#at);
        if (high >= 0x200000)
            throw this.#corrupt('has an offset out of range');
        return high * 0x100000000 + this.#buffer.readUInt32BE(this.#at + 4);
    }
    /** Orders the id at a position relative to a wanted id. */
    #compareAt(position, oid, oidAt) {
        const at = this.#version === 1
            ? FANOUT_BYTES + position * (4 + oid_OID_BYTES) + 4
            : HEADER_V2_BYTES + FANOUT_BYTES + position * oid_OID_BYTES;
        this.#locate(at, oid_OID_BYTES);
        for (let i = 0; i < oid_OID_BYTES; i++) {
            const difference = (this.#buffer[this.#at + i] ?? 0) - (oid[oidAt + i] ?? 0);
            if (difference !== 0)
                return difference;
        }
        return 0;
    }
    /** Makes `length` (at most 64) bytes at a file position readable at `#buffer[#at]`. */
    #locate(at, length) {
        if (this.#whole !== null) {
            this.#buffer = this.#whole;
            this.#at = at;
            return;
        }
        const number = Math.floor(at / BLOCK_BYTES);
        const within = at - number * BLOCK_BYTES;
        if (within + length <= BLOCK_BYTES) {
            this.#buffer = this.#block(number);
            this.#at = within;
            return;
        }
        const head = this.#block(number).copy(this.#straddle, 0, within);
        this.#block(number + 1).copy(this.#straddle, head, 0, length - head);
        this.#buffer = this.#straddle;
        this.#at = 0;
    }
    #block(number) {
        const kept = this.#blocks.get(number);
        if (kept !== undefined)
            return kept;
        let block;
        if (this.#blocks.size >= BLOCKS_KEPT) {
            for (const oldest of this.#blocks) {
                this.#blocks.delete(oldest[0]);
                if (oldest[1].length === BLOCK_BYTES)
                    block = oldest[1];
                break;
            }
        }
        const length = Math.min(BLOCK_BYTES, this.#size - number * BLOCK_BYTES);
        block = block?.length === length ? block : Buffer.allocUnsafeSlow(length);
        this.#readFully(block, number * BLOCK_BYTES);
        this.#blocks.set(number, block);
        return block;
    }
    #readFully(into, position) {
        let done = 0;
        while (done < into.length) {
            const read = (0,external_node_fs_namespaceObject.readSync)(this.#fd, into, done, into.length - done, position + done);
            if (read === 0)
                throw this.#corrupt('ends early');
            done += read;
        }
    }
    #corrupt(how) {
        return new errors_CheckoutError('object-corrupt', `pack index '${this.#path}' ${how}`, { path: this.#path });
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/pack-window.js
/**
 * A window that moves over pack files: one buffer for each thread, filled by large reads, in which entries are parsed and inflated in
 * place. Node cannot map files; for packs that are read from front to back this costs the same.
 */


/** How much of the pack is held at once. */
const WINDOW_BYTES = 1280 << 10;
/** Read when nothing says that what follows is wanted too. */
const LONE_READ_BYTES = 32 << 10;
class PackWindow {
    bytes = new Uint8Array(WINDOW_BYTES);
    /** The window holds this range of its pack. The first byte of the checksum may be in it, see PackReader. */
    start = 0;
    end = 0;
    /** The highest offset that the caller will want soon; reading ahead stops there. */
    readAheadEnd = 0;
    #pack = -1;
    #packs;
    constructor(packs) {
        this.#packs = packs;
    }
    file(pack) {
        const file = this.#packs[pack];
        if (file === undefined)
            throw new Error(`no pack ${pack}`);
        return file;
    }
    /** Where the entries of a pack end. */
    packEnd(pack) {
        return this.file(pack).end;
    }
    /** Makes `length` bytes (at most WINDOW_BYTES) from an offset be in the window. */
    ensure(pack, offset, length) {
        if (pack === this.#pack && offset >= this.start && offset + length <= this.end)
            return;
        const ahead = Math.max(this.readAheadEnd - offset, LONE_READ_BYTES);
        this.#fill(pack, offset, Math.min(Math.max(length, ahead), WINDOW_BYTES));
    }
    /**
     * Goes on in a long entry: makes the byte at an offset be in the window, with as much behind it as fits. At the end of the
     * entries that is the first byte of the checksum, see PackReader.
     * @returns false past that
     */
    advance(pack, offset) {
        if (pack === this.#pack && offset >= this.start && offset < this.end)
            return true;
        if (offset > this.packEnd(pack))
            return false;
        this.#fill(pack, offset, WINDOW_BYTES);
        return true;
    }
    /** Reads from a pack past the window. */
    read(pack, into, length, offset) {
        const file = this.file(pack);
        let done = 0;
        while (done < length) {
            let read;
            try {
                read = (0,external_node_fs_namespaceObject.readSync)(file.fd, into, done, length - done, offset + done);
            }
            catch (error) {
                throw errors_ioError('read', file.path, error);
            }
            if (read === 0)
                throw this.corrupt(pack, offset, 'is cut off');
            done += read;
        }
    }
    /** The error for an entry that is not what it must be. */
    corrupt(pack, offset, how) {
        const { path } = this.file(pack);
        return new errors_CheckoutError('object-corrupt', `pack '${path}': the entry at offset ${offset} ${how}`, { path });
    }
    #fill(pack, offset, length) {
        const count = Math.min(length, this.packEnd(pack) + 1 - offset);
        this.#pack = -1;
        this.read(pack, this.bytes, count, offset);
        this.#pack = pack;
        this.start = offset;
        this.end = offset + count;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/pack-reader.js
/**
 * Reads objects out of packs: a few scratch buffers that are used again and again, deltas resolved without recursion, and a
 * small cache of bases. One reader for each thread.
 *
 * Small objects (up to SCRATCH_BYTES, with all that they are made of) cost no allocation: `readSmall`. For larger ones the
 * caller asks what reading takes (`measure`), finds that memory in the budget, reads (`read`) or lets the object pass by in
 * pieces (`stream`), and gives the memory back (`finish`). A large base is retained until `dropRetained`, for the other
 * deltas on it.
 */










/** Objects up to this size go through the reusable buffers; of the 86,691 files of Linux 6.12 all but 290 do. */
const SCRATCH_BYTES = 1 << 20;
/** Bases kept for each thread. */
const BASE_CACHE_BYTES = 4 << 20;
/** Deflate never packs denser than 1032 to 1 (zlib's technical details), so a larger claim is a lie. */
const MAX_INFLATE_RATIO = 1032;
/** Pieces in which large objects are streamed: they fit the second-level cache of a core. */
const PIECE_BYTES = 256 << 10;
/** Compressed bytes that a stream of `size` bytes may take with any ordinary encoder: stored blocks cost 5 in 16,383. */
function compressedBound(size) {
    return size + (size >> 6) + 64;
}
/** Where the base of a chain of deltas is. */
const BASE_IN_PACK = 0;
const BASE_IN_PLAIN = 1;
const BASE_IN_CACHE = 2;
const BASE_RETAINED = 3;
/** A scratch buffer has one byte more than it is good for: the inflater's spare. */
function pack_reader_scratch() {
    return new Uint8Array(SCRATCH_BYTES + 1);
}
/** What `#large` counts for objects that fit the scratch buffers. */
function largeBytes(size) {
    return size > SCRATCH_BYTES ? size + 1 : 0;
}
class PackReader {
    /** Set by `open`: type of the whole object. */
    type = 0;
    /** Size of the whole object; of a delta it is known after `measure` or a read only. */
    size = 0;
    /** Set by `open`: stored as it is, so that `stream` needs no memory. */
    isPlain = false;
    /** Set by `measure`: bytes that `read` and `stream` allocate. */
    readBytes = 0;
    streamBytes = 0;
    #window;
    #inflater;
    #cache;
    #header = new EntryHeader();
    #sizes = new DeltaSizes();
    #indexes = new Map();
    /** Holds the last small object that was stored as it is. */
    #plain = pack_reader_scratch();
    #plainKey = -1;
    #plainType = 0;
    #plainSize = 0;
    #deltaScratch = null;
    #resultScratch = [null, null];
    #piece = null;
    /** The head of a delta: two sizes of at most 10 bytes each. */
    #probe = new Uint8Array(24);
    /** Large buffers of the object being read. */
    #large = [];
    /** A large object that stays after `finish`, until `dropRetained`. */
    #retained = null;
    #retainedKey = -1;
    #retainedType = 0;
    #retainedSize = 0;
    // The object that was opened: links from it down to its base.
    #pack = 0;
    #offset = 0;
    #chain = [];
    #chainLength = 0;
    #baseOffset = 0;
    #baseDataAt = 0;
    #baseSize = 0;
    #baseAt = BASE_IN_PACK;
    constructor(packs, options = {}) {
        this.#window = new PackWindow(packs);
        this.#inflater = options.inflater ?? new Inflater();
        this.#cache = new DeltaBaseCache(options.baseCacheBytes ?? BASE_CACHE_BYTES);
    }
    close() {
        this.finish();
        this.dropRetained();
        this.#inflater.close();
        for (const index of this.#indexes.values())
            index.close();
        this.#indexes.clear();
    }
    /** The highest offset that the caller will want soon; reading ahead stops there. */
    set readAheadEnd(offset) {
        this.#window.readAheadEnd = offset;
    }
    /** Whether the opened object is a delta on a large base that would have to be inflated for it. */
    get missesLargeBase() {
        return !this.isPlain && this.#baseAt === BASE_IN_PACK && this.#baseSize > SCRATCH_BYTES;
    }
    /** Names the base in the pack of the opened object: equal for deltas that share it. */
    get baseKey() {
        return cacheKey(this.#pack, this.#baseOffset);
    }
    get baseSize() {
        return this.#baseSize;
    }
    /** Whether the opened object is made of what is retained. */
    get usesRetained() {
        return this.#baseAt === BASE_RETAINED;
    }
    /** Bytes that are retained beyond `finish`. */
    get retainedBytes() {
        return this.#retained === null ? 0 : this.#retainedSize + 1;
    }
    /**
     * Finds out what the object at an offset is: follows its chain of deltas down to a base that is stored as it is, or that
     * is at hand.
     * @throws CheckoutError object-corrupt, io
     */
    open(pack, offset) {
        this.#pack = pack;
        this.#offset = offset;
        this.#chainLength = 0;
        this.#baseAt = BASE_IN_PACK;
        let at = offset;
        while (!this.#baseAtHand(cacheKey(pack, at))) {
            const dataAt = this.#readHeader(pack, at);
            const { type, size } = this.#header;
            if (type !== OFS_DELTA && type !== REF_DELTA) {
                this.type = type;
                this.#baseOffset = at;
                this.#baseDataAt = dataAt;
                this.#baseSize = size;
                break;
            }
            const link = (this.#chain[this.#chainLength++] ??= { offset: 0, dataAt: 0, deltaSize: 0 });
            link.offset = at;
            link.dataAt = dataAt;
            link.deltaSize = size;
            at = this.#baseOf(pack, at);
        }
        this.isPlain = this.#chainLength === 0;
        this.size = this.isPlain ? this.#baseSize : 0;
    }
    /**
     * Reads the opened object if it, and all that it is made of, fits the scratch buffers.
     * @returns its bytes, valid until the next call of any method; null when it is larger
     */
    readSmall() {
        if (this.#baseAt === BASE_RETAINED || this.#baseSize > SCRATCH_BYTES)
            return null;
        for (let i = 0; i < this.#chainLength; i++) {
            if ((this.#chain[i]?.deltaSize ?? 0) > SCRATCH_BYTES)
                return null;
        }
        const bytes = this.#readChain(false);
        // What was built on the way may have taken the place of the base in the cache.
        if (bytes === null)
            this.open(this.#pack, this.#offset);
        return bytes;
    }
    /** Finds out what reading a large object takes: sets `size`, `readBytes` and `streamBytes`. */
    measure() {
        if (this.isPlain) {
            const inflating = this.#inflatingBytes(this.size);
            this.readBytes = largeBytes(this.size) + inflating;
            this.streamBytes = inflating === 0 ? 0 : this.readBytes;
            return;
        }
        let baseSize = this.#baseSize;
        // A large base stays to the end, for other deltas on it. One that is at hand has its memory already.
        const retained = this.#baseAt === BASE_IN_PACK ? largeBytes(baseSize) : 0;
        let most = this.#baseAt === BASE_IN_PACK ? retained + this.#inflatingBytes(baseSize) : 0;
        let before = 0;
        for (let i = this.#chainLength - 1; i >= 0; i--) {
            const link = this.#chainLink(i);
            this.#inflateHead(link);
            this.#parseSizes(link, this.#probe, Math.min(this.#probe.length, link.deltaSize), baseSize);
            const { resultSize } = this.#sizes;
            const needed = retained + before + largeBytes(link.deltaSize);
            most = Math.max(most, needed + this.#inflatingBytes(link.deltaSize));
            if (i === 0)
                this.streamBytes = most;
            most = Math.max(most, needed + largeBytes(resultSize));
            baseSize = resultSize;
            before = largeBytes(resultSize);
        }
        this.readBytes = most;
        this.size = baseSize;
    }
    /**
     * Reads the opened object whole.
     * @returns its bytes, valid until `finish` or the next read
     */
    read() {
        const bytes = this.#readChain(true);
        if (bytes === null)
            throw new Error('a read that may allocate gave up');
        return bytes;
    }
    /** Gives the opened object to `sink` in pieces that are valid during the call only. */
    stream(sink) {
        if (!this.isPlain) {
            this.#streamChain(sink);
            return;
        }
        if (!this.#inflater.begin()) {
            const whole = this.read();
            if (whole.length > 0)
                sink(whole);
            return;
        }
        const out = (this.#piece ??= new Uint8Array(PIECE_BYTES));
        let filled = 0;
        this.#inflateInPieces(this.#pack, this.#offset, this.#baseDataAt, this.size, (from, to) => {
            const failure = this.#inflater.step(this.#window.bytes, from, to, out, filled, out.length);
            if (failure !== null)
                return failure;
            filled += this.#inflater.produced;
            if (filled === out.length) {
                sink(out);
                filled = 0;
            }
            return null;
        });
        if (filled > 0)
            sink(out.subarray(0, filled));
    }
    /** Frees the large buffers of the last read at once, but for what is retained. */
    finish() {
        for (const bytes of this.#large)
            freeLarge(bytes);
        this.#large.length = 0;
    }
    /** Frees what is retained. */
    dropRetained() {
        if (this.#retained !== null)
            freeLarge(this.#retained);
        this.#retained = null;
        this.#retainedKey = -1;
    }
    /** What inflating a large part takes beside its output: without the handle the compressed bytes, their inflated pieces and a copy. */
    #inflatingBytes(size) {
        return size <= SCRATCH_BYTES || this.#inflater.usesHandle ? 0 : 2 * compressedBound(size) + 2 * size;
    }
    #chainLink(i) {
        const link = this.#chain[i];
        if (link === undefined)
            throw new Error('no such link in the chain of deltas');
        return link;
    }
    /** Whether the object of this key is at hand as a base. */
    #baseAtHand(key) {
        if (this.#chainLength === 0)
            return false;
        if (key === this.#plainKey) {
            this.type = this.#plainType;
            this.#baseSize = this.#plainSize;
            this.#baseAt = BASE_IN_PLAIN;
            return true;
        }
        if (key === this.#retainedKey) {
            this.type = this.#retainedType;
            this.#baseSize = this.#retainedSize;
            this.#baseAt = BASE_RETAINED;
            return true;
        }
        if (!this.#cache.find(key))
            return false;
        this.type = this.#cache.type;
        this.#baseSize = this.#cache.size;
        this.#baseAt = BASE_IN_CACHE;
        return true;
    }
    /** Offset of the base of the delta whose header was read last. */
    #baseOf(pack, at) {
        let base;
        if (this.#header.type === OFS_DELTA) {
            base = at - this.#header.baseDistance;
            if (this.#header.baseDistance <= 0)
                base = 0;
        }
        else {
            const oidAt = this.#header.baseOidAt;
            base = this.#index(pack).find(this.#window.bytes, oidAt);
            if (base < 0) {
                const hex = oidToHex(this.#window.bytes, oidAt);
                throw this.#corrupt(pack, at, `has a delta base that is not in its pack (${hex})`);
            }
            // A base by id may lie anywhere, so such deltas could form a ring.
            if (this.#chainLength > this.#index(pack).count)
                throw this.#corrupt(pack, at, 'is its own delta base');
        }
        if (base < PACK_HEADER_BYTES || base >= this.#window.packEnd(pack))
            throw this.#corrupt(pack, at, 'has a delta base outside of the pack');
        return base;
    }
    #index(pack) {
        let index = this.#indexes.get(pack);
        if (index === undefined) {
            index = PackIndex.open(this.#window.file(pack).indexPath);
            this.#indexes.set(pack, index);
        }
        return index;
    }
    /** Decodes the entry header at an offset into `#header`; returns where the compressed data begin. */
    #readHeader(pack, offset) {
        const window = this.#window;
        const end = window.packEnd(pack);
        if (offset < PACK_HEADER_BYTES || offset >= end)
            throw this.#corrupt(pack, offset, 'lies outside of the pack');
        window.ensure(pack, offset, Math.min(MAX_ENTRY_HEADER_BYTES, end - offset));
        if (!this.#header.parse(window.bytes, offset - window.start, Math.min(window.end, end) - window.start)) {
            throw this.#corrupt(pack, offset, 'has an invalid header');
        }
        const dataAt = offset + this.#header.length;
        if (this.#header.size > (end - dataAt) * MAX_INFLATE_RATIO) {
            throw this.#corrupt(pack, offset, 'declares a size that its pack cannot hold');
        }
        return dataAt;
    }
    #parseSizes(link, delta, end, baseSize) {
        if (!this.#sizes.parse(delta, 0, end))
            throw this.#corrupt(this.#pack, link.offset, 'is an invalid delta');
        if (this.#sizes.baseSize !== baseSize) {
            throw this.#corrupt(this.#pack, link.offset, 'is a delta for a base of another size');
        }
        // A delta of n bytes makes less than n copies of at most 16 MiB.
        if (this.#sizes.resultSize > link.deltaSize * 0x1000000) {
            throw this.#corrupt(this.#pack, link.offset, 'is a delta with an impossible size');
        }
    }
    /** Inflates the first bytes of a delta into `#probe`. */
    #inflateHead(link) {
        const window = this.#window;
        const probe = this.#probe;
        const wanted = Math.min(probe.length, link.deltaSize);
        if (!this.#inflater.begin()) {
            const delta = this.#inflateDelta(link);
            probe.set(delta.subarray(0, wanted));
            this.#release(delta);
            return;
        }
        const end = window.packEnd(this.#pack);
        // A code table may come before the first byte, so more than a few bytes are offered.
        window.ensure(this.#pack, link.dataAt, Math.min(1024, end - link.dataAt));
        const from = link.dataAt - window.start;
        const to = Math.min(window.end, end) - window.start;
        const failure = this.#inflater.step(window.bytes, from, to, probe, 0, probe.length);
        if (failure !== null)
            throw this.#inflateError(this.#pack, link.offset, failure);
        if (this.#inflater.produced < wanted)
            throw this.#corrupt(this.#pack, link.offset, 'is cut off');
    }
    /** Inflates a delta's instructions. */
    #inflateDelta(link) {
        const out = link.deltaSize > SCRATCH_BYTES ? this.#allocate(link.deltaSize + 1) : (this.#deltaScratch ??= pack_reader_scratch());
        this.#inflateAt(this.#pack, link.offset, link.dataAt, out, link.deltaSize);
        return out;
    }
    /**
     * Inflates the base and applies the chain of deltas.
     * @param large whether memory beyond the scratch buffers may be taken; without, null for what does not fit
     */
    #readChain(large) {
        let base = this.#base();
        let baseStart = this.#baseAt === BASE_IN_CACHE ? this.#cache.start : 0;
        let baseSize = this.#baseSize;
        for (let i = this.#chainLength - 1; i >= 0; i--) {
            const link = this.#chainLink(i);
            const delta = this.#inflateDelta(link);
            this.#parseSizes(link, delta, link.deltaSize, baseSize);
            const { resultSize, instructionsAt } = this.#sizes;
            if (resultSize > SCRATCH_BYTES && !large)
                return null;
            const out = resultSize > SCRATCH_BYTES ? this.#allocate(resultSize + 1) : this.#result(i & 1);
            if (!applyDelta(base, baseStart, baseSize, delta, instructionsAt, link.deltaSize, out, resultSize)) {
                throw this.#corrupt(this.#pack, link.offset, 'is an invalid delta');
            }
            this.#release(base);
            this.#release(delta);
            // What was built is likely to be the base of what comes next in the pack.
            this.#cache.put(cacheKey(this.#pack, link.offset), this.type, out, resultSize);
            base = out;
            baseStart = 0;
            baseSize = resultSize;
        }
        this.size = baseSize;
        return base.subarray(baseStart, baseStart + baseSize);
    }
    /** Like `#readChain`, but the last delta's result passes by instead of being held. */
    #streamChain(sink) {
        const last = this.#chainLink(0);
        let base;
        let baseStart = 0;
        let baseSize;
        if (this.#chainLength === 1) {
            base = this.#base();
            if (this.#baseAt === BASE_IN_CACHE)
                baseStart = this.#cache.start;
            baseSize = this.#baseSize;
        }
        else {
            const whole = this.#readUpTo(1);
            base = whole;
            baseSize = whole.length;
        }
        const delta = this.#inflateDelta(last);
        this.#parseSizes(last, delta, last.deltaSize, baseSize);
        const { resultSize, instructionsAt } = this.#sizes;
        this.size = resultSize;
        const piece = (this.#piece ??= new Uint8Array(PIECE_BYTES));
        const { deltaSize } = last;
        if (!streamDelta(base, baseStart, baseSize, delta, instructionsAt, deltaSize, resultSize, piece, sink)) {
            throw this.#corrupt(this.#pack, last.offset, 'is an invalid delta');
        }
    }
    /** Reads the object that the links from `first` on make, leaving the opened one as it is. */
    #readUpTo(first) {
        const removed = this.#chain.splice(0, first);
        this.#chainLength -= first;
        try {
            return this.read();
        }
        finally {
            this.#chain.unshift(...removed);
            this.#chainLength += first;
        }
    }
    #result(which) {
        const at = which === 0 ? 0 : 1;
        return (this.#resultScratch[at] ??= pack_reader_scratch());
    }
    /** The base of the chain. */
    #base() {
        switch (this.#baseAt) {
            case BASE_IN_PLAIN:
                return this.#plain;
            case BASE_IN_CACHE:
                return this.#cache.memory;
            case BASE_RETAINED:
                if (this.#retained === null)
                    throw new Error('the base was dropped');
                return this.#retained;
            default:
        }
        const size = this.#baseSize;
        if (size > SCRATCH_BYTES) {
            // A base may serve more than one delta; an object for its own sake need not stay.
            if (this.#chainLength > 0)
                return this.#retain();
            const out = this.#allocate(size + 1);
            this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, out, size);
            return out;
        }
        const key = cacheKey(this.#pack, this.#baseOffset);
        this.#plainKey = -1;
        this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, this.#plain, size);
        this.#plainKey = key;
        this.#plainType = this.type;
        this.#plainSize = size;
        if (this.#chainLength > 0)
            this.#cache.put(key, this.type, this.#plain, size);
        return this.#plain;
    }
    /** Inflates the base of the chain into memory that stays after `finish`. */
    #retain() {
        this.dropRetained();
        const size = this.#baseSize;
        const out = this.#allocate(size + 1);
        this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, out, size);
        this.#large.splice(this.#large.indexOf(out), 1);
        this.#retained = out;
        this.#retainedKey = cacheKey(this.#pack, this.#baseOffset);
        this.#retainedType = this.type;
        this.#retainedSize = size;
        return out;
    }
    #inflateAt(pack, offset, dataAt, out, size) {
        const window = this.#window;
        const end = window.packEnd(pack);
        const want = Math.min(compressedBound(size), end - dataAt);
        if (want <= WINDOW_BYTES) {
            window.ensure(pack, dataAt, want);
            const to = Math.min(window.end, end);
            const from = dataAt - window.start;
            const failure = this.#inflater.inflateExact(window.bytes, from, to - window.start, out, 0, size);
            if (failure === null)
                return;
            if (failure === 'corrupt' || to >= end)
                throw this.#inflateError(pack, offset, failure);
        }
        // For objects larger than the window, and for the odd encoder whose output is larger than its input.
        if (!this.#inflater.begin()) {
            // Without pieces the whole compressed object is needed at once.
            const length = Math.min(2 * compressedBound(size), end - dataAt);
            const input = this.#allocate(length);
            window.read(pack, input, length, dataAt);
            const failure = this.#inflater.inflateExact(input, 0, length, out, 0, size);
            this.#release(input);
            if (failure !== null)
                throw this.#inflateError(pack, offset, failure);
            return;
        }
        let filled = 0;
        this.#inflateInPieces(pack, offset, dataAt, size, (from, to) => {
            const failure = this.#inflater.step(window.bytes, from, to, out, filled, size + 1);
            filled += this.#inflater.produced;
            return failure;
        });
    }
    /**
     * Moves the window over a stream that was begun and lets `step` inflate, until the stream has ended after exactly `size` bytes.
     * A stream has ended when it leaves input untouched; behind the last entry there is the pack's checksum to leave.
     * @param step inflates from the window's range; the inflater's counts are then set
     */
    #inflateInPieces(pack, offset, dataAt, size, step) {
        const window = this.#window;
        let at = dataAt;
        let total = 0;
        for (;;) {
            if (!window.advance(pack, at))
                throw this.#corrupt(pack, offset, 'is cut off');
            const failure = step(at - window.start, window.end - window.start);
            if (failure !== null)
                throw this.#inflateError(pack, offset, failure);
            const { consumed, produced } = this.#inflater;
            at += consumed;
            total += produced;
            if (total > size)
                throw this.#corrupt(pack, offset, 'is longer than its header says');
            // Room for output is always left or made by `step`; no progress with input at hand means the end.
            if (consumed === 0 && produced === 0)
                break;
        }
        if (total !== size)
            throw this.#corrupt(pack, offset, 'is shorter than its header says');
    }
    #allocate(bytes) {
        let large;
        try {
            large = new Uint8Array(bytes);
        }
        catch (error) {
            throw new errors_CheckoutError('memory', `cannot allocate ${bytes} bytes for an object`, {}, error);
        }
        this.#large.push(large);
        return large;
    }
    /** Frees one large buffer early; scratch buffers, the cache and what is retained are not in the list and stay. */
    #release(bytes) {
        const at = this.#large.indexOf(bytes);
        if (at < 0)
            return;
        freeLarge(bytes);
        this.#large.splice(at, 1);
    }
    #inflateError(pack, offset, failure) {
        return this.#corrupt(pack, offset, failure === 'truncated' ? 'is cut off' : 'does not inflate to what it declares');
    }
    #corrupt(pack, offset, how) {
        return this.#window.corrupt(pack, offset, how);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/odb/loose.js
/**
 * Loose objects (gitrepository-layout): one zlib stream a file, holding "<type> <size>\0" and the content. The size and
 * the end of the stream are checked even where git would stream without looking.
 */








/** Read in pieces of this size. */
const INPUT_BYTES = 64 << 10;
const loose_PIECE_BYTES = 256 << 10;
/** Compressed bytes that are enough for a header, whatever the encoder. */
const HEAD_INPUT_BYTES = 1024;
/** Longest header: a type of 6 letters and a size of 16 digits. */
const MAX_HEADER_BYTES = 32;
const TYPES = { commit: COMMIT, tree: TREE, blob: BLOB, tag: TAG };
/** Path of a loose object below its object directory. */
function loosePath(objectDirectory, hex) {
    return `${objectDirectory}/${hex.slice(0, 2)}/${hex.slice(2)}`;
}
/** Reads loose objects one after another; the counterpart of PackReader. */
class LooseReader {
    type = 0;
    size = 0;
    /** Set by `measure`. */
    readBytes = 0;
    streamBytes = 0;
    #inflater;
    #input = new Uint8Array(INPUT_BYTES);
    #piece = null;
    #scratch = null;
    #large = null;
    /** Without the handle there are no pieces: the whole compressed object. */
    #compressed = null;
    #fd = -1;
    #path = '';
    #inputStart = 0;
    #inputEnd = 0;
    #atEnd = false;
    /** Content bytes that came with the header. */
    #head = new Uint8Array(MAX_HEADER_BYTES);
    #headStart = 0;
    #headEnd = 0;
    constructor(inflater = new Inflater()) {
        this.#inflater = inflater;
    }
    close() {
        this.finish();
        this.#inflater.close();
    }
    /**
     * Opens an object and reads its header.
     * @returns false when there is no such file
     * @throws CheckoutError object-corrupt, io
     */
    open(objectDirectory, oid, oidAt) {
        this.finish();
        this.#path = loosePath(objectDirectory, oidToHex(oid, oidAt));
        try {
            this.#fd = (0,external_node_fs_namespaceObject.openSync)(this.#path, 'r');
        }
        catch (error) {
            const errno = errnoOf(error);
            if (errno === 'ENOENT' || errno === 'ENOTDIR')
                return false;
            throw errors_ioError('open', this.#path, error);
        }
        this.#inputStart = this.#inputEnd = 0;
        this.#atEnd = false;
        if (!this.#inflater.begin()) {
            this.#openWithoutPieces();
        }
        else {
            this.#openInPieces();
        }
        if (this.size > SCRATCH_BYTES && this.size > (0,external_node_fs_namespaceObject.fstatSync)(this.#fd).size * MAX_INFLATE_RATIO) {
            throw this.#corrupt('declares a size that it cannot hold');
        }
        return true;
    }
    #openInPieces() {
        let filled = 0;
        while (filled < MAX_HEADER_BYTES) {
            if (!this.#refill())
                break;
            filled += this.#step(this.#head, filled, MAX_HEADER_BYTES);
            if (this.#inputStart < this.#inputEnd && filled < MAX_HEADER_BYTES)
                break; // the stream has ended
        }
        this.#headStart = this.#parseHeader(this.#head.subarray(0, filled));
        this.#headEnd = filled;
    }
    /** Sets type and size; returns where the content begins. */
    #parseHeader(head) {
        const zero = head.subarray(0, MAX_HEADER_BYTES).indexOf(0);
        if (zero < 0)
            throw this.#corrupt('has no valid header');
        const text = bufferOver(head, 0, zero).toString('latin1');
        const match = /^(commit|tree|blob|tag) (0|[1-9][0-9]{0,15})$/.exec(text);
        if (match === null)
            throw this.#corrupt('has no valid header');
        this.type = TYPES[match[1] ?? ''] ?? 0;
        this.size = Number(match[2]);
        return zero + 1;
    }
    /** The way of runtimes that cannot inflate in pieces: an object is whole in memory, compressed and inflated. */
    #openWithoutPieces() {
        let head;
        try {
            this.#compressed = (0,external_node_fs_namespaceObject.readFileSync)(this.#fd);
            // What comes of the first bytes of a stream that goes on: they make at most 1 MiB.
            const options = { finishFlush: external_node_zlib_namespaceObject.constants.Z_SYNC_FLUSH };
            head = (0,external_node_zlib_namespaceObject.inflateSync)(this.#compressed.subarray(0, HEAD_INPUT_BYTES), options);
        }
        catch (error) {
            if (this.#compressed === null)
                throw errors_ioError('read', this.#path, error);
            throw this.#corrupt('is damaged');
        }
        this.#headStart = this.#parseHeader(head);
    }
    #inflateWhole(compressed) {
        const end = this.#headStart + this.size;
        let whole;
        let used;
        try {
            const result = (0,external_node_zlib_namespaceObject.inflateSync)(compressed, { maxOutputLength: end + 1, info: true });
            whole = result.buffer;
            used = result.engine.bytesWritten;
        }
        catch (error) {
            const code = error instanceof Error && 'code' in error ? error.code : undefined;
            if (code === 'ERR_BUFFER_TOO_LARGE')
                throw this.#corrupt('is longer than its header says');
            throw this.#corrupt(code === 'Z_BUF_ERROR' ? 'is cut off' : 'is damaged');
        }
        if (whole.length !== end)
            throw this.#corrupt(`is ${whole.length < end ? 'shorter' : 'longer'} than its header says`);
        if (used !== compressed.length)
            throw this.#corrupt('has garbage at its end');
        return whole.subarray(this.#headStart);
    }
    /** Reads the opened object if it fits the scratch buffer, else null. */
    readSmall() {
        return this.size > SCRATCH_BYTES ? null : this.read();
    }
    measure() {
        const large = this.size > SCRATCH_BYTES;
        if (this.#compressed === null) {
            this.readBytes = large ? this.size + 1 : 0;
            this.streamBytes = 0;
        }
        else {
            // The inflated pieces and the whole that they are put together to.
            this.readBytes = this.streamBytes = large ? this.#compressed.length + 2 * this.size : 0;
        }
    }
    /** Reads the opened object whole; the bytes are valid until the next call. */
    read() {
        if (this.#compressed !== null)
            return this.#inflateWhole(this.#compressed);
        let out;
        if (this.size > SCRATCH_BYTES) {
            try {
                this.#large = new Uint8Array(this.size + 1);
            }
            catch (error) {
                throw new errors_CheckoutError('memory', `cannot allocate ${this.size} bytes for '${this.#path}'`, {}, error);
            }
            out = this.#large;
        }
        else {
            out = this.#scratch ??= new Uint8Array(SCRATCH_BYTES + 1);
        }
        const head = this.#takeHead();
        out.set(head, 0);
        let filled = head.length;
        for (;;) {
            if (!this.#refill())
                break;
            const before = filled;
            filled += this.#step(out, filled, this.size + 1);
            if (filled > this.size)
                throw this.#corrupt('is longer than its header says');
            if (this.#inputStart < this.#inputEnd) {
                if (filled === before)
                    break;
                continue;
            }
        }
        this.#checkEnd(filled);
        return out.subarray(0, this.size);
    }
    /** Gives the opened object to `sink` in pieces that are valid during the call only. */
    stream(sink) {
        if (this.#compressed !== null) {
            const whole = this.#inflateWhole(this.#compressed);
            if (whole.length > 0)
                sink(whole);
            return;
        }
        this.#piece ??= new Uint8Array(loose_PIECE_BYTES);
        const piece = this.#piece;
        const head = this.#takeHead();
        piece.set(head, 0);
        let filled = head.length;
        let total = head.length;
        for (;;) {
            if (!this.#refill())
                break;
            const made = this.#step(piece, filled, piece.length);
            filled += made;
            total += made;
            if (total > this.size)
                throw this.#corrupt('is longer than its header says');
            if (filled === piece.length) {
                sink(piece);
                filled = 0;
                continue;
            }
            if (this.#inputStart < this.#inputEnd)
                break;
        }
        if (filled > 0)
            sink(piece.subarray(0, filled));
        this.#checkEnd(total);
    }
    /** Closes the file and frees a large buffer at once. */
    finish() {
        if (this.#fd >= 0)
            (0,external_node_fs_namespaceObject.closeSync)(this.#fd);
        this.#fd = -1;
        this.#compressed = null;
        if (this.#large !== null)
            freeLarge(this.#large);
        this.#large = null;
    }
    #takeHead() {
        const length = this.#headEnd - this.#headStart;
        if (length > this.size)
            throw this.#corrupt('is longer than its header says');
        return this.#head.subarray(this.#headStart, this.#headEnd);
    }
    /** True when there is input to inflate. */
    #refill() {
        if (this.#inputStart < this.#inputEnd)
            return true;
        if (this.#atEnd)
            return false;
        let read;
        try {
            read = (0,external_node_fs_namespaceObject.readSync)(this.#fd, this.#input, 0, INPUT_BYTES, null);
        }
        catch (error) {
            throw errors_ioError('read', this.#path, error);
        }
        if (read === 0) {
            this.#atEnd = true;
            return false;
        }
        this.#inputStart = 0;
        this.#inputEnd = read;
        return true;
    }
    #step(out, from, to) {
        const failure = this.#inflater.step(this.#input, this.#inputStart, this.#inputEnd, out, from, to);
        if (failure !== null)
            throw this.#corrupt('is damaged');
        this.#inputStart += this.#inflater.consumed;
        return this.#inflater.produced;
    }
    #checkEnd(total) {
        if (total !== this.size)
            throw this.#corrupt('is shorter than its header says');
        if (this.#inputStart < this.#inputEnd || this.#refill())
            throw this.#corrupt('has garbage at its end');
        if (!this.#inflater.ended())
            throw this.#corrupt('is cut off');
    }
    #corrupt(how) {
        return new errors_CheckoutError('object-corrupt', `loose object '${this.#path}' ${how}`, { path: this.#path });
    }
}

;// CONCATENATED MODULE: ./build/js/engine/odb/object-reader.js





/** Pack number of a loose object. */
const LOOSE = 0xffff;
class ObjectReader {
    /** Set by `open`: the object's type (pack/entry.ts) and size. */
    type = 0;
    size = 0;
    /** Set by `measure`: bytes that `read` and `stream` allocate. */
    readBytes = 0;
    streamBytes = 0;
    /** Set by `open`: stored as it is, so that `stream` needs no memory. */
    isPlain = false;
    #packs;
    #directories;
    #useHandle;
    #loose = null;
    #current;
    /** @param useHandle false inflates the documented way, see Inflater (for tests) */
    constructor(packs, objectDirectories, useHandle = true) {
        this.#packs = new PackReader(packs, { inflater: new Inflater(useHandle) });
        this.#directories = objectDirectories;
        this.#useHandle = useHandle;
        this.#current = this.#packs;
    }
    close() {
        this.#packs.close();
        this.#loose?.close();
    }
    /** How far the caller will read on in the pack; see PackReader. */
    readAhead(end) {
        this.#packs.readAheadEnd = end;
    }
    /**
     * Opens the object at a place.
     * @param oid its id, needed for loose objects and messages
     * @throws CheckoutError object-missing, object-corrupt, io; the error names the object
     */
    open(pack, offset, oid, oidAt) {
        if (pack === LOOSE) {
            if (!this.openLoose(oid, oidAt)) {
                const hex = oidToHex(oid, oidAt);
                throw new errors_CheckoutError('object-missing', `object ${hex} is missing`, { oid: hex });
            }
            return;
        }
        this.#packs.open(pack, offset);
        this.#current = this.#packs;
        this.type = this.#packs.type;
        this.size = this.#packs.size;
        this.isPlain = this.#packs.isPlain;
    }
    /** Opens a loose object; false when there is none. */
    openLoose(oid, oidAt) {
        this.#loose ??= new LooseReader(new Inflater(this.#useHandle));
        for (const directory of this.#directories) {
            if (!this.#loose.open(directory, oid, oidAt))
                continue;
            this.#current = this.#loose;
            this.type = this.#loose.type;
            this.size = this.#loose.size;
            this.isPlain = true;
            return true;
        }
        return false;
    }
    /** The whole object if reading it takes no memory beyond the scratch buffers, else null. */
    readSmall() {
        const bytes = this.#current.readSmall();
        if (bytes !== null)
            this.size = bytes.length;
        return bytes;
    }
    /** Finds out what reading a large object takes: sets `size`, `readBytes` and `streamBytes`. */
    measure() {
        this.#current.measure();
        this.size = this.#current.size;
        this.readBytes = this.#current.readBytes;
        this.streamBytes = this.#current.streamBytes;
    }
    /** The whole object, whatever its size; its bytes are valid until the next call. */
    read() {
        const bytes = this.#current.readSmall() ?? this.#current.read();
        this.size = bytes.length;
        return bytes;
    }
    /** Whether the opened object is a delta on a large base that would have to be inflated for it. */
    get missesLargeBase() {
        return this.#current === this.#packs && this.#packs.missesLargeBase;
    }
    /** Names the base in the pack of the opened object: equal for deltas that share it. */
    get baseKey() {
        return this.#packs.baseKey;
    }
    get baseSize() {
        return this.#packs.baseSize;
    }
    /** Whether the opened object is made of what is retained. */
    get usesRetained() {
        return this.#current === this.#packs && this.#packs.usesRetained;
    }
    /** Bytes that are retained. */
    get retainedBytes() {
        return this.#packs.retainedBytes;
    }
    dropRetained() {
        this.#packs.dropRetained();
    }
    /** The object in pieces, each valid during the call. */
    stream(sink) {
        this.#current.stream(sink);
    }
    /** Frees what reading a large object took, but for what is retained. */
    finish() {
        this.#current.finish();
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/compare-file.js
/**
 * Compares a file of the working tree with the content that it should have.
 */



const compare_file_PIECE_BYTES = 64 << 10;
/** Windows has no O_NOFOLLOW; there a link in place of the file has been noticed by its stat data. */
const READ = external_node_fs_namespaceObject.constants.O_RDONLY | (external_node_fs_namespaceObject.constants.O_NOFOLLOW ?? 0);
/**
 * Whether there is a file at `path` that holds exactly this content. What cannot be opened does not.
 * @param content bytes, or a producer of pieces
 */
function fileHasContent(path, content) {
    let fd;
    try {
        fd = (0,external_node_fs_namespaceObject.openSync)(path, READ);
    }
    catch (error) {
        if (errnoOf(error) !== undefined)
            return false;
        throw error;
    }
    try {
        const stat = (0,external_node_fs_namespaceObject.fstatSync)(fd);
        // A directory opens, too: it cannot be read, and an empty one may be as large as an empty file.
        if (!stat.isFile())
            return false;
        const { size } = stat;
        if (typeof content !== 'function' && size !== content.length)
            return false;
        const read = Buffer.allocUnsafe(compare_file_PIECE_BYTES);
        let position = 0;
        const result = { same: true };
        const compare = (piece) => {
            for (let at = 0; result.same && at < piece.length;) {
                const want = Math.min(compare_file_PIECE_BYTES, piece.length - at);
                const got = (0,external_node_fs_namespaceObject.readSync)(fd, read, 0, want, position);
                if (got === 0 || !bufferOver(piece, at, at + got).equals(read.subarray(0, got)))
                    result.same = false;
                at += got;
                position += got;
            }
        };
        if (typeof content === 'function')
            content(compare);
        else
            compare(content);
        return result.same && position === size;
    }
    finally {
        (0,external_node_fs_namespaceObject.closeSync)(fd);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/create-file.js
/**
 * Creates one file of the working tree. Always a new file: exclusive create means that nothing is followed, truncated or
 * shared, and that what is unexpectedly there is found out rather than overwritten. The only thing ever removed here is
 * this call's own half-written file.
 */


const CREATE = external_node_fs_namespaceObject.constants.O_WRONLY | external_node_fs_namespaceObject.constants.O_CREAT | external_node_fs_namespaceObject.constants.O_EXCL;
function writeFully(fd, piece) {
    const { length } = piece;
    let at = (0,external_node_fs_namespaceObject.writeSync)(fd, piece, 0, length);
    while (at < length)
        at += (0,external_node_fs_namespaceObject.writeSync)(fd, piece, at, length - at);
}
/**
 * Creates the file with the content.
 * @param path absolute
 * @param content bytes, or a producer of pieces
 * @returns the file's stat data, or null when something is at the path already
 * @throws the system's error, or what the producer throws; the half-written file is gone then
 */
function createFile(path, executable, content) {
    let fd;
    try {
        fd = (0,external_node_fs_namespaceObject.openSync)(path, CREATE, executable ? 0o777 : 0o666);
    }
    catch (error) {
        const errno = errnoOf(error);
        if (errno === 'EEXIST' || errno === 'EISDIR')
            return null;
        throw error;
    }
    let complete = false;
    try {
        let stat;
        try {
            if (typeof content === 'function')
                content((piece) => writeFully(fd, piece));
            else if (content.length > 0)
                writeFully(fd, content);
            stat = (0,external_node_fs_namespaceObject.fstatSync)(fd, { bigint: true });
        }
        finally {
            // A file system on a network may say only here that the disk is full.
            (0,external_node_fs_namespaceObject.closeSync)(fd);
        }
        complete = true;
        return stat;
    }
    finally {
        if (!complete)
            (0,external_node_fs_namespaceObject.unlinkSync)(path);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/paths.js

/** Longest path that a system call takes, without its NUL: limits.h of the platforms; Windows has its own rules. */
function maxPathBytes(platform) {
    if (platform === 'win32')
        return 32_767;
    return platform === 'linux' ? 4095 : 1023;
}
/** Builds absolute paths in one buffer. A path it returns is valid until the next call. */
class WorktreePaths {
    root;
    #buffer;
    #rootLength;
    /** @param root absolute path of the working tree */
    constructor(root) {
        this.root = root;
        const bytes = Buffer.from(root.endsWith('/') ? root : `${root}/`, 'utf8');
        this.#rootLength = bytes.length;
        this.#buffer = Buffer.alloc(bytes.length + 4096);
        bytes.copy(this.#buffer);
    }
    /** Bytes of the root with its slash. */
    get rootBytes() {
        return this.#rootLength;
    }
    /** The absolute path of path[start, end). */
    absolute(path, start, end) {
        const length = end - start;
        if (this.#rootLength + length > this.#buffer.length) {
            const grown = Buffer.alloc(this.#rootLength + length * 2);
            this.#buffer.copy(grown, 0, 0, this.#rootLength);
            this.#buffer = grown;
        }
        const buffer = this.#buffer;
        for (let i = start, at = this.#rootLength; i < end; i++)
            buffer[at++] = path[i] ?? 0;
        return buffer.subarray(0, this.#rootLength + length);
    }
}
/** The path relative to the root, for messages. */
function displayPath(path, start, end) {
    return displayBytes(path.subarray(start, end));
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/budget.js
/**
 * One memory budget for all threads, in shared memory. Whoever must hold an object beyond the scratch buffers reserves its bytes
 * first and waits if there are none; so 56 workers on 500 large files fit the budget that 2 do.
 *
 * A thread reserves once for each object, for all that the object takes, and gives all of it back before it reserves again:
 * nobody waits while holding something, so nobody waits for ever. An object larger than the whole budget gets it alone.
 *
 * A thread may end at any instruction, and the others would wait for ever for what it holds. So what each thread holds is
 * written down beside, before it is taken and until it is back: `reclaim` may then give back too much, never too little.
 */
/** Sizes are counted in units of 4 KiB, so that 30 bits reach 4 TiB. */
const UNIT = 4096;
/** Words of the shared array. */
const FREE = 0;
const TOTAL = 1;
/** From here on, the units that each thread holds. */
const HELD = 2;
/** A budget with as much again reclaimed still fits a word. */
const MOST_UNITS = 0x3fffffff;
class Budget {
    #words;
    /** Index of the word that says what this thread holds. */
    #held;
    /** @param thread number of the thread that reserves: 0 is the main thread, then the workers */
    constructor(words, thread) {
        this.#words = words;
        this.#held = HELD + thread;
    }
    /**
     * Makes the shared words.
     * @param workers number of threads beside the main thread
     */
    static create(limitBytes, workers) {
        const words = new Int32Array(new SharedArrayBuffer(4 * (HELD + 1 + workers)));
        words[FREE] = words[TOTAL] = Math.max(1, Math.min(MOST_UNITS, Math.floor(limitBytes / UNIT)));
        return words;
    }
    /**
     * Waits for `bytes` of the budget.
     * @param onWait called before each wait, true stops waiting
     * @returns the units reserved, to be given to `release`; 0 when `onWait` stopped it
     */
    reserve(bytes, onWait) {
        const total = Atomics.load(this.#words, TOTAL);
        const units = Math.max(1, Math.min(total, Budget.units(bytes)));
        for (;;) {
            const free = Atomics.load(this.#words, FREE);
            if (free >= units) {
                if (this.#take(free, units))
                    return units;
                continue;
            }
            if (onWait())
                return 0;
            // The time limit only bounds how long a stop request goes unseen.
            Atomics.wait(this.#words, FREE, free, 100);
        }
    }
    /** Takes `bytes` of the budget if they are free now. Returns the units, or 0. An object larger than the budget needs `reserve`. */
    tryReserve(bytes) {
        const units = Math.max(1, Budget.units(bytes));
        for (;;) {
            const free = Atomics.load(this.#words, FREE);
            if (free < units)
                return 0;
            if (this.#take(free, units))
                return units;
        }
    }
    #take(free, units) {
        Atomics.add(this.#words, this.#held, units);
        if (Atomics.compareExchange(this.#words, FREE, free, free - units) === free)
            return true;
        Atomics.sub(this.#words, this.#held, units);
        return false;
    }
    /** Units that hold so many bytes. */
    static units(bytes) {
        return Math.ceil(bytes / UNIT);
    }
    release(units) {
        if (units <= 0)
            return;
        Atomics.add(this.#words, FREE, units);
        Atomics.sub(this.#words, this.#held, units);
        Atomics.notify(this.#words, FREE);
    }
    /** Gives back what this thread, which has ended, still held. To be called by another. */
    reclaim() {
        const units = Atomics.exchange(this.#words, this.#held, 0);
        Atomics.add(this.#words, FREE, units);
        Atomics.notify(this.#words, FREE);
    }
    /** True when nothing is reserved: holds between runs, and tests rely on it. */
    get idle() {
        return Atomics.load(this.#words, FREE) === Atomics.load(this.#words, TOTAL);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/control.js
/**
 * The words by which the main thread and the workers steer a run, each used through Atomics only; and counters, each written by
 * one thread.
 */
/** Next batch to be claimed. */
const NEXT_BATCH = 0;
/** Entries of the write order, from its beginning, whose way is clear: their directories exist. */
const READY = 1;
/** Not 0: stop. */
const STOP = 2;
/** Entries in the list of deferred ones. */
const DEFERRED = 3;
const CONTROL_WORDS = 4;
/** What each thread has done so far, a row for each: for progress, and for the report when a thread dies. */
const FILES_DONE = 0;
const BYTES_DONE = 1;
const COUNTERS = 2;
/** A row for the main thread (0) and for each worker. */
function createCounters(workers) {
    return new Float64Array(new SharedArrayBuffer(8 * COUNTERS * (workers + 1)));
}
function createControl() {
    return new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/tables.js
/**
 * The manifest's tables: one row for each entry of the commit, in index order, as flat arrays in shared memory. Threads read
 * and fill the same tables, so a million entries cost no copies and no messages.
 */


/** Each entry ends in one of the final states; PENDING or VERIFY at the end of a run is a bug. */
const State = {
    /** To be written by a worker. */
    PENDING: 0,
    /** The file on disk has this entry's stat data but may have changed in the same second: to be compared by a worker. */
    VERIFY: 1,
    /** A link or a submodule directory: the main thread makes these last. */
    LATER: 2,
    /** Something was unexpectedly there, or the worker died: the main thread tries again. */
    COLLIDED: 3,
    // Final states.
    WRITTEN: 4,
    /** Already as it should be; its stat data stay. */
    KEPT: 5,
    FAILED: 6,
};
/** Most entries of a checkout: 24 bits of a sort key (write-order.ts). Larger trees than the largest known by ten times. */
const MAX_ENTRIES = 0xffffff;
/** Offsets into the paths are 32 bits wide. */
const MAX_PATH_TABLE_BYTES = 0xffffffff;
/** Words of stat data for each entry, in the order of the index file. */
const tables_STAT_WORDS = 10;
function shared(bytes) {
    try {
        return new SharedArrayBuffer(bytes);
    }
    catch (error) {
        throw new CheckoutError('memory', `cannot allocate ${bytes} bytes for the list of files`, {}, error);
    }
}
/** Tables with room for `capacity` entries; memory that is not touched costs nothing. */
function allocateTables(capacity, pathCapacity) {
    return {
        count: 0,
        pathBytes: new Uint8Array(shared(pathCapacity)),
        pathOffsets: new Uint32Array(shared(4 * (capacity + 1))),
        oids: new Uint8Array(shared(OID_BYTES * capacity)),
        modes: new Uint32Array(shared(4 * capacity)),
        conversions: new Uint8Array(shared(capacity)),
        states: new Uint8Array(shared(capacity)),
        packs: new Uint16Array(shared(2 * capacity)),
        offsets: new Float64Array(shared(8 * capacity)),
        directories: new Uint32Array(shared(4 * capacity)),
        stats: new Uint32Array(shared(4 * tables_STAT_WORDS * capacity)),
    };
}
/** Makes room for at least one more entry. */
function growEntries(tables) {
    const grown = allocateTables(tables.modes.length * 2, 0);
    grown.pathOffsets.set(tables.pathOffsets);
    grown.oids.set(tables.oids);
    grown.modes.set(tables.modes);
    grown.conversions.set(tables.conversions);
    grown.states.set(tables.states);
    grown.packs.set(tables.packs);
    grown.offsets.set(tables.offsets);
    grown.directories.set(tables.directories);
    // The stat table is empty while entries are still being added.
    Object.assign(tables, { ...grown, count: tables.count, pathBytes: tables.pathBytes });
}
/** Makes room for `more` further bytes of paths. */
function growPaths(tables, used, more) {
    let capacity = tables.pathBytes.length * 2;
    while (capacity < used + more)
        capacity *= 2;
    const grown = new Uint8Array(shared(capacity));
    grown.set(tables.pathBytes.subarray(0, used));
    tables.pathBytes = grown;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/entry-writer.js
/**
 * Writes one entry: finds the blob, converts it, creates the file, records its stat data. The one piece of code that does this, in
 * worker threads and in the main thread alike.
 */














/** Room for a converted small file: every byte a line feed is the worst that end-of-line conversion makes of one. */
const CONVERTED_BYTES = 2 * SCRATCH_BYTES;
/** Why a run was stopped in the middle of an entry; the entry stays as it was. */
class Stopped extends Error {
}
class EntryWriter {
    /** Time spent waiting, for the report. */
    waitMs = 0;
    #counters;
    #job;
    #reader;
    #paths;
    #budget;
    #onFailure;
    #onLarge;
    #converted = null;
    /** Units of the budget that the reader's retained base holds. */
    #retained = 0;
    /** The entry being written. */
    #current = 0;
    /**
     * @param thread number of the thread: its row of counters
     * @param onFailure told of each entry that could not be written
     * @param onLarge called while a large object is held, to look at the memory that it takes
     */
    constructor(job, thread, onFailure, onLarge) {
        this.#job = job;
        this.#counters = job.counters.subarray(COUNTERS * thread, COUNTERS * (thread + 1));
        this.#reader = new ObjectReader(job.packs, job.objectDirectories);
        this.#paths = new WorktreePaths(job.workTree);
        this.#budget = new Budget(job.budget, thread);
        this.#onFailure = onFailure;
        this.#onLarge = onLarge;
    }
    /** Files written. */
    get files() {
        return this.#counters[FILES_DONE] ?? 0;
    }
    get bytesWritten() {
        return this.#counters[BYTES_DONE] ?? 0;
    }
    close() {
        this.dropRetained();
        this.#reader.close();
    }
    /** See PackReader. */
    readAhead(end) {
        this.#reader.readAhead(end);
    }
    /**
     * Brings a PENDING or VERIFY entry into its next state and stores that. Failures are told, not thrown; what is thrown is a
     * bug.
     * @param deferred where to note an entry for a later pass, whose state then stays; null to write everything now
     */
    write(entry, deferred) {
        const { tables } = this.#job;
        const verify = tables.states[entry] === State.VERIFY;
        try {
            const state = this.#write(entry, verify, deferred);
            tables.states[entry] = state;
        }
        catch (error) {
            if (error instanceof Stopped)
                return;
            const failure = this.#describe(entry, error);
            tables.states[entry] = State.FAILED;
            this.#onFailure(entry, failure.toJSON());
        }
    }
    #write(entry, verify, deferred) {
        const { tables, conversions } = this.#job;
        const reader = this.#reader;
        this.#current = entry;
        const oidAt = entry * oid_OID_BYTES;
        reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, tables.oids, oidAt);
        if (reader.type !== BLOB) {
            const hex = oidToHex(tables.oids, oidAt);
            throw new errors_CheckoutError('object-corrupt', `object ${hex} is a ${typeName(reader.type)}, not a blob`, {
                oid: hex,
            });
        }
        const conversion = conversions[tables.conversions[entry] ?? 0];
        if (conversion === undefined)
            throw new Error(`no conversion ${tables.conversions[entry] ?? 0}`);
        const small = reader.readSmall();
        if (small !== null)
            return this.#put(entry, verify, this.#convert(conversion, small, entry));
        if (deferred !== null && reader.missesLargeBase) {
            const at = Atomics.add(this.#job.control, DEFERRED, 1);
            deferred.entries[at] = entry;
            deferred.bases[at] = reader.baseKey;
            deferred.baseSizes[at] = reader.baseSize;
            return verify ? State.VERIFY : State.PENDING;
        }
        return this.#writeLarge(entry, verify, conversion);
    }
    /** An object that is larger than the scratch buffers, or is made of such. */
    #writeLarge(entry, verify, conversion) {
        const reader = this.#reader;
        if (!reader.usesRetained)
            this.dropRetained();
        reader.measure();
        const streams = conversion.kind !== 'in-core';
        // Converted content is mostly not larger than twice the blob.
        const converted = conversion.kind === 'none' ? 0 : 2 * reader.size;
        const reserved = this.#reserve(() => (streams ? reader.streamBytes : reader.readBytes + converted));
        if (reserved < 0)
            throw new Stopped();
        let kept = 0;
        try {
            const content = streams ? this.#streamed(conversion, entry) : this.#convert(conversion, reader.read(), entry);
            return this.#put(entry, verify, content);
        }
        finally {
            this.#onLarge();
            reader.finish();
            if (this.#retained === 0)
                kept = this.#retained = Math.min(reserved, Budget.units(reader.retainedBytes));
            this.#budget.release(reserved - kept);
        }
    }
    /**
     * Reserves memory for the opened object. Whoever retains something must not wait, or two could wait for each other; so when
     * there is not enough, what is retained goes first, and the object is measured again without it.
     * @returns units reserved, or -1 when the run is stopped
     */
    #reserve(bytes) {
        const wanted = bytes();
        if (wanted === 0)
            return 0;
        let reserved = this.#budget.tryReserve(wanted);
        if (reserved === 0) {
            if (this.#retained > 0) {
                const { tables } = this.#job;
                this.dropRetained();
                const entry = this.#current;
                this.#reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, tables.oids, entry * oid_OID_BYTES);
                this.#reader.measure();
            }
            const start = performance.now();
            reserved = this.#budget.reserve(bytes(), () => this.#stopping());
            this.waitMs += performance.now() - start;
            if (reserved === 0)
                return -1;
        }
        return reserved;
    }
    /** Gives up a base that was kept for the deltas on it. To be called when other entries follow. */
    dropRetained() {
        if (this.#retained === 0)
            return;
        this.#reader.dropRetained();
        this.#budget.release(this.#retained);
        this.#retained = 0;
    }
    #stopping() {
        return Atomics.load(this.#job.control, STOP) !== 0;
    }
    #convert(conversion, content, entry) {
        if (conversion.kind === 'none')
            return content;
        const size = convertedSize(conversion, content, content.length);
        if (size < 0)
            return content;
        let out;
        if (size <= CONVERTED_BYTES)
            out = this.#converted ??= new Uint8Array(CONVERTED_BYTES);
        else
            out = new Uint8Array(size);
        const made = convertInto(conversion, content, content.length, this.#job.tables.oids, entry * oid_OID_BYTES, out);
        return out.subarray(0, made);
    }
    #streamed(conversion, entry) {
        const reader = this.#reader;
        if (conversion.kind === 'none') {
            return (write) => {
                reader.stream(write);
            };
        }
        const converter = createStreamConverter(conversion, this.#job.tables.oids, entry * oid_OID_BYTES);
        return (write) => {
            reader.stream((piece) => {
                converter.push(piece, write);
            });
            converter.end(write);
        };
    }
    #put(entry, verify, content) {
        const { tables, platform } = this.#job;
        const start = tables.pathOffsets[entry] ?? 0;
        const end = tables.pathOffsets[entry + 1] ?? 0;
        const path = this.#paths.absolute(tables.pathBytes, start, end);
        if (verify)
            return fileHasContent(path, content) ? State.KEPT : State.COLLIDED;
        const mode = tables.modes[entry] ?? 0;
        const stat = createFile(path, mode === MODE_EXECUTABLE, content);
        if (stat === null)
            return State.COLLIDED;
        statToWords(stat, platform, tables.stats, entry * tables_STAT_WORDS, mode);
        this.#counters[FILES_DONE] = this.files + 1;
        this.#counters[BYTES_DONE] = this.bytesWritten + Number(stat.size);
        return State.WRITTEN;
    }
    #describe(entry, error) {
        const { tables } = this.#job;
        const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        if (error instanceof errors_CheckoutError) {
            const oid = oidToHex(tables.oids, entry * oid_OID_BYTES);
            const subject = { ...error.subject, path, oid };
            return new errors_CheckoutError(error.code, `cannot write '${path}' (blob ${oid}): ${error.message}`, subject);
        }
        return errors_ioError('write', path, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/worker-loop.js
/**
 * The loop of a pass: claim a batch, wait until its way is clear, write its entries, and again until nothing is left. Claiming
 * is dynamic, so a slow worker holds nobody up. The main thread runs the same loop where there are no workers.
 */


/** Batches between two looks at this thread's memory. */
const SAMPLE_EVERY = 16;
/** Claims and writes one batch; false when none is left or the run is stopped. */
function writeBatch(job, pass, writer) {
    const { control, tables } = job;
    const { batchStarts, order, deferred } = pass;
    const batch = Atomics.add(control, NEXT_BATCH, 1);
    if (batch >= batchStarts.length - 1)
        return false;
    const start = batchStarts[batch] ?? 0;
    const end = batchStarts[batch + 1] ?? 0;
    if (!waitUntilReady(control, end, writer))
        return false;
    const last = order[end - 1] ?? 0;
    for (let i = start; i < end && Atomics.load(control, STOP) === 0; i++) {
        const entry = order[i] ?? 0;
        const state = tables.states[entry];
        if (state !== State.PENDING && state !== State.VERIFY)
            continue;
        // The batch lies together in one pack, except where the order goes on to the next pack.
        writer.readAhead(tables.packs[entry] === tables.packs[last] ? (tables.offsets[last] ?? 0) : 0);
        writer.write(entry, deferred);
    }
    // What was kept for the deltas of this batch serves no other, and others may need the memory.
    writer.dropRetained();
    return Atomics.load(control, STOP) === 0;
}
/** Runs one worker's part of a pass. */
function runPass(job, pass, writer, meter) {
    for (let round = 0; writeBatch(job, pass, writer); round++) {
        if (round % SAMPLE_EVERY === 0)
            meter.sample();
    }
    meter.sample();
}
/** Waits until the first `end` entries of the order may be written; false when the run is stopped. */
function waitUntilReady(control, end, writer) {
    let ready = Atomics.load(control, READY);
    if (ready >= end)
        return true;
    const start = performance.now();
    while (ready < end && Atomics.load(control, STOP) === 0) {
        // The time limit only bounds how long a stop request goes unseen.
        Atomics.wait(control, READY, ready, 100);
        ready = Atomics.load(control, READY);
    }
    writer.waitMs += performance.now() - start;
    return ready >= end;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/worker.js
/**
 * Entry point of a worker thread. It starts while the manifest is still being made, and then gets a job and its passes.
 */





const port = external_node_worker_threads_namespaceObject.parentPort;
if (port === null)
    throw new Error('this file runs as a worker thread of parallel-checkout only');
function send(message) {
    port?.postMessage(message);
}
let running = null;
port.on('message', (message) => {
    switch (message.type) {
        case 'begin': {
            const { id, job } = message;
            const meter = new CostMeter(id);
            const writer = new EntryWriter(job, id, (entry, error) => {
                send({ type: 'failed', entry, error });
            }, () => {
                meter.sample();
            });
            running = { job, writer, meter };
            return;
        }
        case 'pass':
            if (running === null)
                throw errors_bug('a pass before its job');
            runPass(running.job, message.pass, running.writer, running.meter);
            send({ type: 'passed' });
            return;
        case 'end':
            if (running !== null) {
                running.writer.close();
                send({ type: 'ended', cost: running.meter.cost(running.writer) });
            }
            port.close();
    }
});

