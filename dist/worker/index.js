import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({

/***/ 181:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("buffer");

/***/ }),

/***/ 203:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("stream");

/***/ }),

/***/ 193:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("string_decoder");

/***/ })

/******/ });
/************************************************************************/
/******/ // The module cache
/******/ var __webpack_module_cache__ = {};
/******/ 
/******/ // The require function
/******/ function __nccwpck_require__(moduleId) {
/******/ 	// Check if module is in cache
/******/ 	var cachedModule = __webpack_module_cache__[moduleId];
/******/ 	if (cachedModule !== undefined) {
/******/ 		return cachedModule.exports;
/******/ 	}
/******/ 	// Create a new module (and put it into the cache)
/******/ 	var module = __webpack_module_cache__[moduleId] = {
/******/ 		// no module.id needed
/******/ 		// no module.loaded needed
/******/ 		exports: {}
/******/ 	};
/******/ 
/******/ 	// Execute the module function
/******/ 	var threw = true;
/******/ 	try {
/******/ 		__webpack_modules__[moduleId](module, module.exports, __nccwpck_require__);
/******/ 		threw = false;
/******/ 	} finally {
/******/ 		if(threw) delete __webpack_module_cache__[moduleId];
/******/ 	}
/******/ 
/******/ 	// Return the exports of the module
/******/ 	return module.exports;
/******/ }
/******/ 
/******/ // expose the modules object (__webpack_modules__)
/******/ __nccwpck_require__.m = __webpack_modules__;
/******/ 
/************************************************************************/
/******/ /* webpack/runtime/asset-relocator-loader */
/******/ if (typeof __nccwpck_require__ !== 'undefined') __nccwpck_require__.ab = decodeURIComponent(new URL('.', import.meta.url).pathname).slice(import.meta.url.match(/^file:\/\/\/\w:/) ? 1 : 0, -1) + "/";
/******/ 
/******/ /* webpack/runtime/define property getters */
/******/ (() => {
/******/ 	// define getter functions for harmony exports
/******/ 	__nccwpck_require__.d = (exports, definition) => {
/******/ 		for(var key in definition) {
/******/ 			if(__nccwpck_require__.o(definition, key) && !__nccwpck_require__.o(exports, key)) {
/******/ 				Object.defineProperty(exports, key, { enumerable: true, get: definition[key] });
/******/ 			}
/******/ 		}
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/ensure chunk */
/******/ (() => {
/******/ 	__nccwpck_require__.f = {};
/******/ 	// This file contains only the entry chunk.
/******/ 	// The chunk loading function for additional chunks
/******/ 	__nccwpck_require__.e = (chunkId) => {
/******/ 		return Promise.all(Object.keys(__nccwpck_require__.f).reduce((promises, key) => {
/******/ 			__nccwpck_require__.f[key](chunkId, promises);
/******/ 			return promises;
/******/ 		}, []));
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/get javascript chunk filename */
/******/ (() => {
/******/ 	// This function allow to reference async chunks
/******/ 	__nccwpck_require__.u = (chunkId) => {
/******/ 		// return url for filenames based on template
/******/ 		return {"122":"encoding-tables","748":"shared-1"}[chunkId] + ".js";
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/hasOwnProperty shorthand */
/******/ (() => {
/******/ 	__nccwpck_require__.o = (obj, prop) => (Object.prototype.hasOwnProperty.call(obj, prop))
/******/ })();
/******/ 
/******/ /* webpack/runtime/make namespace object */
/******/ (() => {
/******/ 	// define __esModule on exports
/******/ 	__nccwpck_require__.r = (exports) => {
/******/ 		if(typeof Symbol !== 'undefined' && Symbol.toStringTag) {
/******/ 			Object.defineProperty(exports, Symbol.toStringTag, { value: 'Module' });
/******/ 		}
/******/ 		Object.defineProperty(exports, '__esModule', { value: true });
/******/ 	};
/******/ })();
/******/ 
/******/ /* webpack/runtime/import chunk loading */
/******/ (() => {
/******/ 	// no baseURI
/******/ 	
/******/ 	// object to store loaded and loading chunks
/******/ 	// undefined = chunk not loaded, null = chunk preloaded/prefetched
/******/ 	// [resolve, Promise] = chunk loading, 0 = chunk loaded
/******/ 	var installedChunks = {
/******/ 		792: 0
/******/ 	};
/******/ 	
/******/ 	var installChunk = (data) => {
/******/ 		var {ids, modules, runtime} = data;
/******/ 		// add "modules" to the modules object,
/******/ 		// then flag all "ids" as loaded and fire callback
/******/ 		var moduleId, chunkId, i = 0;
/******/ 		for(moduleId in modules) {
/******/ 			if(__nccwpck_require__.o(modules, moduleId)) {
/******/ 				__nccwpck_require__.m[moduleId] = modules[moduleId];
/******/ 			}
/******/ 		}
/******/ 		if(runtime) runtime(__nccwpck_require__);
/******/ 		for(;i < ids.length; i++) {
/******/ 			chunkId = ids[i];
/******/ 			if(__nccwpck_require__.o(installedChunks, chunkId) && installedChunks[chunkId]) {
/******/ 				installedChunks[chunkId][0]();
/******/ 			}
/******/ 			installedChunks[ids[i]] = 0;
/******/ 		}
/******/ 	
/******/ 	}
/******/ 	
/******/ 	__nccwpck_require__.f.j = (chunkId, promises) => {
/******/ 			// import() chunk loading for javascript
/******/ 			var installedChunkData = __nccwpck_require__.o(installedChunks, chunkId) ? installedChunks[chunkId] : undefined;
/******/ 			if(installedChunkData !== 0) { // 0 means "already installed".
/******/ 	
/******/ 				// a Promise means "currently loading".
/******/ 				if(installedChunkData) {
/******/ 					promises.push(installedChunkData[1]);
/******/ 				} else {
/******/ 					if(true) { // all chunks have JS
/******/ 						// setup Promise in chunk cache
/******/ 						var promise = import("./" + __nccwpck_require__.u(chunkId)).then(installChunk, (e) => {
/******/ 							if(installedChunks[chunkId] !== 0) installedChunks[chunkId] = undefined;
/******/ 							throw e;
/******/ 						});
/******/ 						var promise = Promise.race([promise, new Promise((resolve) => (installedChunkData = installedChunks[chunkId] = [resolve]))])
/******/ 						promises.push(installedChunkData[1] = promise);
/******/ 					}
/******/ 				}
/******/ 			}
/******/ 	};
/******/ 	
/******/ 	// no prefetching
/******/ 	
/******/ 	// no preloaded
/******/ 	
/******/ 	// no external install chunk
/******/ 	
/******/ 	// no on chunks loaded
/******/ })();
/******/ 
/************************************************************************/
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
function errors_errnoOf(error) {
    if (!(error instanceof Error) || !('code' in error))
        return undefined;
    return typeof error.code === 'string' ? error.code : undefined;
}
/** What Node says of memory that it does not get; these errors have no code. */
const NO_MEMORY = /^(Array buffer allocation failed|Invalid (typed array|array buffer) length)/;
/** Node's codes for calls that were made wrongly. */
const WRONG_CALL = ['ERR_INVALID_ARG_TYPE', 'ERR_OUT_OF_RANGE'];
/**
 * Wraps a system error on `path` into one line; passes a CheckoutError through unchanged. Memory that cannot be had is a
 * failure with a code of its own.
 * @throws what is none of these: a bug of ours, which must not pass for the system's failure
 */
function errors_ioError(action, path, error) {
    if (error instanceof errors_CheckoutError)
        return error;
    if (error instanceof RangeError && NO_MEMORY.test(error.message)) {
        return new errors_CheckoutError('memory', `cannot ${action} '${path}': ${error.message}`, { path }, error);
    }
    const errno = errors_errnoOf(error);
    if (errno === undefined || WRONG_CALL.includes(errno))
        throw error;
    return new errors_CheckoutError('io', `cannot ${action} '${path}': ${errno}`, { path, errno }, error);
}
/** A broken invariant of this program, never the user's fault. */
function errors_bug(what) {
    return new Error(`BUG in parallel-checkout: ${what}`);
}

;// CONCATENATED MODULE: ./build/js/engine/filter/encode.js
let loaded = null;
/** Loads what the encodings of these conversions need. To be awaited before `encode` is called for any of them. */
async function loadTables(conversions) {
    if (loaded !== null || !conversions.some(({ encoding }) => encoding?.kind === 'table'))
        return;
    loaded = await Promise.all(/* import() | encoding-tables */[__nccwpck_require__.e(748), __nccwpck_require__.e(122)]).then(__nccwpck_require__.bind(__nccwpck_require__, 453));
}
/** At most so many bytes come of one byte of UTF-8. */
function encodedBound(encoding) {
    return encoding.kind === 'unicode' ? encoding.unit : 2;
}
const INVALID = -1;
/** How many bytes the last character had. */
let taken = 0;
/** The character at `at`, which begins with a byte over 0x7f; INVALID where UTF-8 has no such sequence. */
function decode(content, at, length) {
    const first = content[at] ?? 0;
    const more = first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : 0;
    if (more === 0 || at + more >= length)
        return INVALID;
    let point = first & (0x3f >> more);
    for (let i = 1; i <= more; i++) {
        const byte = content[at + i] ?? 0;
        if ((byte & 0xc0) !== 0x80)
            return INVALID;
        point = (point << 6) | (byte & 0x3f);
    }
    const least = more === 1 ? 0x80 : more === 2 ? 0x800 : 0x10000;
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return INVALID;
    taken = more + 1;
    return point;
}
/**
 * Encodes `content[0, length)`.
 * @returns null when it cannot be encoded as a whole
 */
function encode(encoding, content, length) {
    return encoding.kind === 'unicode'
        ? encodeUnicode(encoding, content, length)
        : encodeBytes(encoding, content, length);
}
function encodeUnicode({ unit, bigEndian, bom }, content, length) {
    let units = bom ? 1 : 0;
    for (let at = 0; at < length; units++) {
        if ((content[at] ?? 0) < 0x80) {
            at++;
            continue;
        }
        const point = decode(content, at, length);
        if (point === INVALID)
            return null;
        if (unit === 2 && point > 0xffff)
            units++;
        at += taken;
    }
    const out = new Uint8Array(units * unit);
    const view = new DataView(out.buffer);
    let end = 0;
    const put = (value) => {
        if (unit === 2)
            view.setUint16(end, value, !bigEndian);
        else
            view.setUint32(end, value, !bigEndian);
        end += unit;
    };
    if (bom)
        put(0xfeff);
    for (let at = 0; at < length;) {
        const byte = content[at] ?? 0;
        if (byte < 0x80) {
            put(byte);
            at++;
            continue;
        }
        const point = decode(content, at, length);
        at += taken;
        if (unit === 2 && point > 0xffff) {
            put(0xd7c0 + (point >> 10));
            put(0xdc00 | (point & 0x3ff));
        }
        else {
            put(point);
        }
    }
    return out;
}
function encodeBytes(encoding, content, length) {
    const code = codes(encoding);
    let size = 0;
    for (let at = 0; at < length;) {
        if ((content[at] ?? 0) < 0x80) {
            at++;
            size++;
            continue;
        }
        const point = decode(content, at, length);
        if (point === INVALID)
            return null;
        at += taken;
        // libc drops these marks of language where an encoding does not have them.
        if (point >> 7 === 0xe0000 >> 7)
            continue;
        const bytes = code(point);
        if (bytes === 0)
            return null;
        size += bytes >>> 24;
    }
    const out = new Uint8Array(size);
    let end = 0;
    for (let at = 0; at < length;) {
        const byte = content[at] ?? 0;
        if (byte < 0x80) {
            out[end++] = byte;
            at++;
            continue;
        }
        const point = decode(content, at, length);
        at += taken;
        if (point >> 7 === 0xe0000 >> 7)
            continue;
        const bytes = code(point);
        for (let shift = ((bytes >>> 24) - 1) * 8; shift >= 0; shift -= 8)
            out[end++] = (bytes >>> shift) & 0xff;
    }
    return out;
}
/** From a character to its length (high byte) and bytes; 0 where it has none. */
function codes(encoding) {
    if (encoding.kind === 'bytes')
        return (point) => (point < encoding.limit ? (1 << 24) | point : 0);
    if (loaded === null)
        throw new Error(`the table of ${encoding.table} was not loaded`);
    const { UNMAPPABLE } = loaded;
    const table = loaded.characterTable(encoding.table);
    return (point) => {
        const bytes = table.get(point);
        return bytes === UNMAPPABLE ? 0 : bytes;
    };
}

;// CONCATENATED MODULE: external "node:fs"
const external_node_fs_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");
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

;// CONCATENATED MODULE: ./build/js/engine/object/tree.js
/** Modes as git writes them into an index; a tree entry is brought to one of these by its type bits. */
const MODE_FILE = 0o100644;
const MODE_EXECUTABLE = 0o100755;
const MODE_SYMLINK = 0o120000;
const MODE_TREE = 0o040000;
const tree_MODE_GITLINK = 0o160000;
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
            return tree_MODE_GITLINK;
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
    #oidBytes;
    /** @param oidBytes length of the ids (ObjectFormat.oidBytes) */
    constructor(bytes, oidBytes) {
        this.bytes = bytes;
        this.#oidBytes = oidBytes;
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
        if (at === nameStart || at + 1 + this.#oidBytes > end)
            return -1;
        this.mode = canonicalMode(mode);
        this.isModeCanonical = mode === this.mode && nameStart - 1 - modeStart === (mode === MODE_TREE ? 5 : 6);
        this.nameStart = nameStart;
        this.nameEnd = at;
        this.oidAt = at + 1;
        this.#at = at + 1 + this.#oidBytes;
        return 1;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/sparse/pattern-file.js
/** A larger file is taken for one that cannot be read (git's PATTERN_MAX_FILE_SIZE). */
const PATTERN_FILE_LIMIT = (/* unused pure expression or super */ null && (100 * 1024 * 1024));
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const EXCLAMATION = 0x21;
const HASH = 0x23;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
/** All patterns in the order of the file. */
function parseSparsePatterns(file) {
    const patterns = [];
    let start = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? 3 : 0;
    while (start < file.length) {
        let end = file.indexOf(LF, start);
        if (end < 0)
            end = file.length;
        // A line of a carriage return alone is no blank line to git: it is an empty pattern, which ends cone mode.
        if (end > start && file[start] !== HASH)
            patterns.push(parseLine(file, start, end));
        start = end + 1;
    }
    return patterns;
}
function parseLine(file, start, lineEnd) {
    let end = file[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    // To git a line is a string, which ends at a NUL.
    const nul = file.subarray(start, end).indexOf(0);
    if (nul >= 0)
        end = start + nul;
    end = withoutTrailingSpaces(file, start, end);
    const negative = end > start && file[start] === EXCLAMATION;
    const from = negative ? start + 1 : start;
    const mustBeDirectory = end > from && file[end - 1] === SLASH;
    return { pattern: file.slice(from, mustBeDirectory ? end - 1 : end), negative, mustBeDirectory };
}
/** Where the line ends without its trailing spaces; one after a backslash stays. */
function withoutTrailingSpaces(file, start, end) {
    let firstSpace = -1;
    for (let at = start; at < end; at++) {
        if (file[at] === SPACE) {
            if (firstSpace < 0)
                firstSpace = at;
            continue;
        }
        if (file[at] === BACKSLASH && ++at >= end)
            return end;
        firstSpace = -1;
    }
    return firstSpace < 0 ? end : firstSpace;
}

;// CONCATENATED MODULE: ./build/js/engine/attributes/wildmatch.js
const ANY = 256;
const STAR = 257;
/** `**` as the last component, or before an escaped slash: any bytes. */
const GLOBSTAR = 258;
/** `**` and its slash: nothing, or any bytes up to and including a slash. */
const GLOBSTAR_SLASH = 259;
const CLASS = 512;
const wildmatch_SLASH = 0x2f;
const wildmatch_BACKSLASH = 0x5c;
const ASTERISK = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const DASH = 0x2d;
const COLON = 0x3a;
/** Lower-case form of an ASCII letter, anything else unchanged. */
function foldByte(byte) {
    return byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
}
/**
 * Compiles `pattern`. With `pathMode` wildcards stop at slashes and `**` is special where it is a whole component;
 * without it a pattern is meant for a name that has no slash. `fold` is core.ignoreCase, with git's oddities: an escaped
 * or bracketed upper-case letter matches nothing, while a range such as [A-Z] matches both cases.
 *
 * `literal` bytes at the beginning have no wildcard. git compares them on their own, so that a `**` right behind them stands
 * at the beginning of what is left and counts as a whole component: `a**` with `pathMode` matches a/b.
 *
 * Returns null for a pattern that can match nothing: an unfinished or unknown bracket expression, a backslash at the end.
 */
function compileGlob(pattern, pathMode, fold, literal = 0) {
    const ops = [];
    const classes = [];
    const end = pattern.length;
    let at = 0;
    while (at < end) {
        const byte = pattern[at];
        if (byte === wildmatch_BACKSLASH) {
            const escaped = pattern[at + 1];
            if (escaped === undefined || (fold && foldByte(escaped) !== escaped))
                return null;
            ops.push(escaped);
            at += 2;
        }
        else if (byte === QUESTION) {
            ops.push(ANY);
            at++;
        }
        else if (byte === ASTERISK) {
            const first = at;
            while (pattern[at] === ASTERISK)
                at++;
            const wholeComponent = at - first > 1 &&
                (first === 0 || first === literal || pattern[first - 1] === wildmatch_SLASH) &&
                (at === end || pattern[at] === wildmatch_SLASH || (pattern[at] === wildmatch_BACKSLASH && pattern[at + 1] === wildmatch_SLASH));
            if (!pathMode || !wholeComponent) {
                ops.push(STAR);
            }
            else if (pattern[at] === wildmatch_SLASH) {
                ops.push(GLOBSTAR_SLASH);
                at++;
            }
            else {
                ops.push(GLOBSTAR);
            }
        }
        else if (byte === OPEN) {
            const set = new Uint8Array(256);
            at = readClass(pattern, at, fold, set);
            if (at < 0)
                return null;
            if (pathMode)
                set[wildmatch_SLASH] = 0;
            ops.push(CLASS + classes.length);
            classes.push(set);
        }
        else {
            ops.push(fold ? foldByte(byte) : byte);
            at++;
        }
    }
    const flat = new Uint8Array(256 * classes.length);
    classes.forEach((set, index) => flat.set(set, 256 * index));
    return { ops: Int32Array.from(ops), classes: flat, pathMode, fold };
}
/** Whether the whole of `text[start, end)` matches. */
function matchGlob(glob, text, start, end) {
    const { ops, classes, pathMode, fold } = glob;
    const length = ops.length;
    let op = 0;
    let at = start;
    // Where to go on when the way taken fails: the program position after the last star and the text position it had.
    let starOp = -1;
    let starAt = 0;
    let globstarOp = -1;
    let globstarAt = 0;
    let globstarSlash = false;
    for (;;) {
        if (op < length) {
            const code = ops[op];
            if (code === STAR) {
                starOp = ++op;
                starAt = at;
                continue;
            }
            if (code === GLOBSTAR || code === GLOBSTAR_SLASH) {
                globstarOp = ++op;
                globstarAt = at;
                globstarSlash = code === GLOBSTAR_SLASH;
                if (op === length && !globstarSlash)
                    return true;
                starOp = -1;
                continue;
            }
            if (at < end) {
                let byte = text[at];
                if (fold)
                    byte = foldByte(byte);
                const matches = code < ANY
                    ? code === byte
                    : code === ANY
                        ? !pathMode || byte !== wildmatch_SLASH
                        : classes[(code - CLASS) * 256 + byte] === 1;
                if (matches) {
                    op++;
                    at++;
                    continue;
                }
            }
        }
        else if (at === end) {
            return true;
        }
        if (starOp >= 0 && starAt < end && (!pathMode || text[starAt] !== wildmatch_SLASH)) {
            op = starOp;
            at = ++starAt;
        }
        else if (globstarOp >= 0 && globstarAt < end) {
            starOp = -1;
            if (globstarSlash) {
                while (globstarAt < end && text[globstarAt] !== wildmatch_SLASH)
                    globstarAt++;
                if (globstarAt === end)
                    return false;
            }
            op = globstarOp;
            at = ++globstarAt;
        }
        else {
            return false;
        }
    }
}
/**
 * Reads the bracket expression that starts at `open` into `set`. Returns the position after it, or -1 when it is
 * malformed. A range needs a plain start: after a range or a [:class:] a dash is a dash.
 */
function readClass(pattern, open, fold, set) {
    let at = open + 1;
    const negated = pattern[at] === 0x21 || pattern[at] === 0x5e;
    if (negated)
        at++;
    let previous = 0;
    // The first byte belongs to the class even when it is the closing bracket.
    do {
        let byte = pattern[at];
        if (byte === undefined)
            return -1;
        const next = pattern[at + 1];
        if (byte === wildmatch_BACKSLASH) {
            if (next === undefined)
                return -1;
            set[next] = 1;
            at++;
            byte = next;
        }
        else if (byte === DASH && previous !== 0 && next !== undefined && next !== CLOSE) {
            at++;
            byte = next;
            if (byte === wildmatch_BACKSLASH) {
                const escaped = pattern[++at];
                if (escaped === undefined)
                    return -1;
                byte = escaped;
            }
            addRange(set, previous, byte, fold);
            byte = 0;
        }
        else if (byte === OPEN && next === COLON) {
            const close = pattern.indexOf(CLOSE, at + 2);
            if (close < 0)
                return -1;
            if (close === at + 2 || pattern[close - 1] !== COLON) {
                set[OPEN] = 1;
            }
            else {
                if (!addNamed(set, Buffer.from(pattern.subarray(at + 2, close - 1)).toString('latin1'), fold))
                    return -1;
                at = close;
                byte = 0;
            }
        }
        else {
            set[byte] = 1;
        }
        previous = byte;
        at++;
    } while (pattern[at] !== CLOSE);
    // The text is folded before it is looked up, so its upper-case letters never get here; what the class says of them
    // is void.
    if (negated)
        for (let byte = 0; byte < 256; byte++)
            set[byte] = set[byte] === 1 ? 0 : 1;
    return at + 1;
}
function addRange(set, first, last, fold) {
    for (let byte = first; byte <= last; byte++)
        set[byte] = 1;
    if (!fold)
        return;
    for (let byte = 0x61; byte <= 0x7a; byte++)
        if (byte - 32 >= first && byte - 32 <= last)
            set[byte] = 1;
}
const isUpper = (byte) => byte >= 0x41 && byte <= 0x5a;
const isLower = (byte) => byte >= 0x61 && byte <= 0x7a;
const isDigit = (byte) => byte >= 0x30 && byte <= 0x39;
const isAlpha = (byte) => isUpper(byte) || isLower(byte);
const isAlnum = (byte) => isAlpha(byte) || isDigit(byte);
const isPrint = (byte) => byte >= 0x20 && byte <= 0x7e;
/** POSIX classes as git has them: ASCII whatever the locale, and `space` without vertical tab and form feed. */
const NAMED = new Map([
    ['alnum', isAlnum],
    ['alpha', isAlpha],
    ['blank', (byte) => byte === 0x20 || byte === 0x09],
    ['cntrl', (byte) => byte < 0x20 || byte === 0x7f],
    ['digit', isDigit],
    ['graph', (byte) => isPrint(byte) && byte !== 0x20],
    ['lower', isLower],
    ['print', isPrint],
    ['punct', (byte) => isPrint(byte) && byte !== 0x20 && !isAlnum(byte)],
    ['space', (byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d],
    ['upper', isUpper],
    ['xdigit', (byte) => isDigit(byte) || (foldByte(byte) >= 0x61 && foldByte(byte) <= 0x66)],
]);
function addNamed(set, name, fold) {
    const test = NAMED.get(name);
    if (test === undefined)
        return false;
    for (let byte = 0; byte < 256; byte++) {
        if (test(byte) || (fold && name === 'upper' && isLower(byte)))
            set[byte] = 1;
    }
    return true;
}

;// CONCATENATED MODULE: ./build/js/engine/attributes/pattern.js

/** Matches every path. */
const EVERY = 0;
/** The base name is `literal`. */
const NAME = 1;
/** The base name ends in `literal`. */
const SUFFIX = 2;
/** The base name matches `glob`. */
const NAME_GLOB = 3;
/** The path below the file's directory is `literal`. */
const PATH = 4;
/** The path below the file's directory matches `glob`. */
const PATH_GLOB = 5;
const pattern_SLASH = 0x2f;
const pattern_ASTERISK = 0x2a;
const EMPTY = new Uint8Array(0);
/**
 * Prepares a pattern of an AttributeRule. `fold` is core.ignoreCase. Null when it can match no path.
 */
function compilePattern(written, fold) {
    const hasSlash = written.includes(pattern_SLASH);
    // A leading slash binds the pattern to the file's directory, as any slash does, and is not part of what is matched.
    const pattern = written[0] === pattern_SLASH ? written.subarray(1) : written;
    const wildcard = firstWildcard(pattern);
    if (wildcard === pattern.length) {
        const literal = foldAll(pattern, fold);
        return { kind: hasSlash ? PATH : NAME, literal, glob: null, fold, lastByte: lastOf(literal) };
    }
    if (!hasSlash && pattern[0] === pattern_ASTERISK && firstWildcard(pattern.subarray(1)) === pattern.length - 1) {
        const literal = foldAll(pattern.subarray(1), fold);
        return { kind: literal.length === 0 ? EVERY : SUFFIX, literal, glob: null, fold, lastByte: lastOf(literal) };
    }
    const glob = compileGlob(pattern, hasSlash, fold, wildcard);
    if (glob === null)
        return null;
    const last = glob.ops[glob.ops.length - 1];
    return { kind: hasSlash ? PATH_GLOB : NAME_GLOB, literal: EMPTY, glob, fold, lastByte: last < 256 ? last : -1 };
}
/**
 * Whether `pattern` matches the path `path[start, end)`. `base` is where the part below the pattern's directory starts,
 * `name` where the base name starts.
 */
function matchPattern(pattern, path, base, name, end) {
    switch (pattern.kind) {
        case EVERY:
            return true;
        case NAME:
            return end - name === pattern.literal.length && endsWith(path, end, pattern.literal, pattern.fold);
        case SUFFIX:
            return end - name >= pattern.literal.length && endsWith(path, end, pattern.literal, pattern.fold);
        case PATH:
            return end - base === pattern.literal.length && endsWith(path, end, pattern.literal, pattern.fold);
        case NAME_GLOB:
            return matchGlob(pattern.glob, path, name, end);
        case PATH_GLOB:
            return matchGlob(pattern.glob, path, base, end);
    }
}
function endsWith(path, end, literal, fold) {
    let at = end;
    for (let i = literal.length - 1; i >= 0; i--) {
        const byte = path[--at];
        if (byte !== literal[i] && (!fold || foldByte(byte) !== literal[i]))
            return false;
    }
    return true;
}
function firstWildcard(pattern) {
    for (let i = 0; i < pattern.length; i++) {
        const byte = pattern[i];
        if (byte === pattern_ASTERISK || byte === 0x3f || byte === 0x5b || byte === 0x5c)
            return i;
    }
    return pattern.length;
}
function foldAll(bytes, fold) {
    return fold ? bytes.map(foldByte) : bytes;
}
function lastOf(bytes) {
    return bytes.length === 0 ? -1 : bytes[bytes.length - 1];
}

;// CONCATENATED MODULE: ./build/js/engine/sparse/pattern-list.js
/**
 * Sparse checkout by gitignore patterns (non-cone). Of the patterns that match a path the last one decides; where none
 * does it is as with its directory, and at the top left out.
 */

const OUT = 0;
const IN = 1;
/** The matcher for these patterns, which are in the order of the file. */
function listMatcher(patterns, ignoreCase) {
    const rules = [];
    for (const { pattern, negative, mustBeDirectory } of patterns) {
        const compiled = compilePattern(pattern, ignoreCase);
        if (compiled !== null)
            rules.push({ pattern: compiled, mustBeDirectory, verdict: negative ? OUT : IN });
    }
    // The last one counts, so it is asked first.
    rules.reverse();
    const decide = (path, start, name, end, isDirectory, parent) => {
        for (const rule of rules) {
            if (rule.mustBeDirectory && !isDirectory)
                continue;
            if (matchPattern(rule.pattern, path, start, name, end))
                return rule.verdict;
        }
        return parent;
    };
    return {
        root: OUT,
        directory: (path, name, end, parent) => decide(path, 0, name, end, true, parent),
        includes: (path, start, name, end, isDirectory, parent) => decide(path, start, name, end, isDirectory, parent) === IN,
    };
}

;// CONCATENATED MODULE: ./build/js/engine/bytes.js
/**
 * Small operations on byte ranges. Paths, names and contents are bytes here, because git's are: a path need not be
 * valid UTF-8, and turning a million of them into strings would cost more than writing the files.
 */
/** Bytes that one read or write asks for at most: Node takes lengths below 2 GiB only. */
const MOST_AT_ONCE = 2 ** 30;
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
 * Address space that a large buffer takes at least. glibc's malloc asks the system for memory of a chunk's own, and gives it back when the
 * chunk is freed, from a size on that grows with what is freed, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD); below it, freed
 * memory stays with the thread. Only pages that are written to count: the clone of Linux took 288 MB without this, 240 MB with.
 */
const LEAST_LARGE_BYTES = (32 << 20) + (64 << 10);
/** Up to here what stays is little, and much address space would only have garbage collected more often: 0.5 s of 7.3 s CPU. */
const MOST_ORDINARY_BYTES = 2 << 20;
/**
 * Memory for an object that is larger than the scratch buffers; `freeLarge` gives it back.
 * @throws RangeError where there is none
 */
function allocateLarge(bytes) {
    if (bytes <= MOST_ORDINARY_BYTES)
        return new Uint8Array(bytes);
    return new Uint8Array(new ArrayBuffer(Math.max(bytes, LEAST_LARGE_BYTES)), 0, bytes);
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

;// CONCATENATED MODULE: ./build/js/engine/worktree/nested-repository.js
/**
 * Whether a directory of the working tree is a repository of its own, as git decides it when it goes through untracked files:
 * `.git` in it is a git directory, or a file that leads to one or that cannot be read.
 */



const nested_repository_SLASH = 0x2f;
/** A larger `.git` file is none (git's MAX in read_gitfile_gently). */
const MAX_GITFILE_BYTES = 1 << 20;
/** @param path of the directory, below the working tree */
function isNestedRepository(paths, path) {
    const directory = bufferOver(path);
    const dotGit = Buffer.concat([directory, Buffer.from('/.git')]);
    const absolute = Buffer.from(paths.absolute(dotGit, 0, dotGit.length));
    try {
        const stat = (0,external_node_fs_namespaceObject.statSync)(absolute, { throwIfNoEntry: false });
        if (stat === undefined)
            return false;
        if (stat.isDirectory())
            return isGitDirectory(absolute);
        if (!stat.isFile() || stat.size > MAX_GITFILE_BYTES)
            return false;
        const text = (0,external_node_fs_namespaceObject.readFileSync)(absolute);
        const match = /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text.toString('latin1'));
        if (match === null)
            return false;
        const target = Buffer.from(match[1] ?? '', 'latin1');
        const base = Buffer.from(paths.absolute(directory, 0, directory.length));
        return isGitDirectory(target[0] === nested_repository_SLASH ? target : Buffer.concat([base, Buffer.of(nested_repository_SLASH), target]));
    }
    catch (error) {
        const errno = errors_errnoOf(error);
        if (errno === undefined)
            throw error;
        // A file that cannot be opened may be anything, and git takes it for a repository.
        return errno !== 'ENOTDIR' && errno !== 'ELOOP';
    }
}
/** HEAD, objects and refs make a git directory. */
function isGitDirectory(path) {
    const has = (name) => (0,external_node_fs_namespaceObject.lstatSync)(Buffer.concat([path, Buffer.from(`/${name}`)]), { throwIfNoEntry: false }) !== undefined;
    const own = has('HEAD');
    return own && ((has('objects') && has('refs')) || has('commondir'));
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/paths.js

/**
 * Longest path that a system call takes, without its NUL: limits.h of the platforms. On Windows it is what a path with the prefix \\?\
 * may have; Node puts the prefix in front of absolute paths, given as text or as bytes.
 */
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
function paths_displayPath(path, start, end) {
    return displayBytes(path.subarray(start, end));
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/remove.js
/**
 * Removes what is in the way. Main thread only. Links are never followed: a directory is entered only after lstat has said that it
 * is one.
 */



const remove_SLASH = Buffer.from('/');
/**
 * Removes the file, link or whole directory at an absolute path; nothing there is fine. `keep` is never removed.
 * @throws CheckoutError io
 */
function removeAll(path, keep) {
    try {
        const stat = (0,external_node_fs_namespaceObject.lstatSync)(path, { throwIfNoEntry: false });
        if (stat === undefined)
            return;
        if (stat.isDirectory())
            removeDirectory(path, keep);
        else
            (0,external_node_fs_namespaceObject.unlinkSync)(path);
    }
    catch (error) {
        if (errors_errnoOf(error) !== 'ENOENT')
            throw errors_ioError('remove', displayBytes(path), error);
    }
}
function removeDirectory(path, keep) {
    if (path.toString('utf8') === keep) {
        const shown = displayBytes(path);
        throw new errors_CheckoutError('io', `refusing to remove the current working directory '${shown}'`, { path: shown });
    }
    for (const child of (0,external_node_fs_namespaceObject.readdirSync)(path, { withFileTypes: true, encoding: 'buffer' })) {
        const childPath = Buffer.concat([path, remove_SLASH, child.name]);
        // Some file systems do not tell the type along with the name.
        const known = child.isFile() || child.isSymbolicLink() || child.isDirectory();
        const directory = known ? child.isDirectory() : (0,external_node_fs_namespaceObject.lstatSync)(childPath).isDirectory();
        if (directory)
            removeDirectory(childPath, keep);
        else
            (0,external_node_fs_namespaceObject.unlinkSync)(childPath);
    }
    (0,external_node_fs_namespaceObject.rmdirSync)(path);
}
/**
 * Removes a tracked file or link, as git does: nothing there is fine, anything else that fails is told.
 * @returns null when it is gone, else the errno
 */
function unlinkTracked(path) {
    try {
        (0,external_node_fs_namespaceObject.unlinkSync)(path);
        return null;
    }
    catch (error) {
        const errno = errors_errnoOf(error);
        if (errno === undefined)
            throw error;
        return errno === 'ENOENT' || errno === 'ENOTDIR' ? null : errno;
    }
}
/** Removes a directory if it is empty. */
function removeEmptyDirectory(path, keep) {
    if (path.toString('utf8') === keep)
        return false;
    try {
        rmdirSync(path);
        return true;
    }
    catch (error) {
        if (errnoOf(error) === undefined)
            throw error;
        return false;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/tables.js
/**
 * The manifest's tables: one row for each entry of the commit, in index order, as flat arrays in shared memory. Threads read
 * and fill the same tables, so a million entries cost no copies and no messages.
 */

/** Each entry ends in one of the final states; PENDING or VERIFY at the end of a run is a bug. */
const tables_State = {
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
    // Open again, so that the order of the numbers above stays.
    /** Goes through a filter driver: the main thread writes it while the workers write the others. */
    FILTER: 7,
    /** The same, and the file on disk is to be compared as with VERIFY. */
    FILTER_VERIFY: 8,
    // Final again.
    /** Outside of the sparse checkout: in the index only, with the skip-worktree bit. */
    SKIPPED: 9,
    // And open.
    /** As PENDING, and the old index has something there, so that it is removed first. */
    REPLACE: 10,
    // Not final: the object of an entry for workers could not be read where it was found; the main thread looks for another place.
    UNREAD: 11,
    UNREAD_VERIFY: 12,
};
/** Whether an entry in this state is for a worker. */
function isForWorkers(state) {
    return state === tables_State.PENDING || state === tables_State.REPLACE || state === tables_State.VERIFY;
}
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
function allocateTables(capacity, pathCapacity, format) {
    return {
        format,
        count: 0,
        pathBytes: new Uint8Array(shared(pathCapacity)),
        pathOffsets: new Uint32Array(shared(4 * (capacity + 1))),
        oids: new Uint8Array(shared(format.oidBytes * capacity)),
        modes: new Uint32Array(shared(4 * capacity)),
        flags: new Uint16Array(shared(2 * capacity)),
        extendedFlags: new Uint16Array(shared(2 * capacity)),
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
    const grown = allocateTables(tables.modes.length * 2, 0, tables.format);
    grown.pathOffsets.set(tables.pathOffsets);
    grown.oids.set(tables.oids);
    grown.modes.set(tables.modes);
    grown.conversions.set(tables.conversions);
    grown.states.set(tables.states);
    grown.packs.set(tables.packs);
    grown.offsets.set(tables.offsets);
    grown.directories.set(tables.directories);
    // Stat data and flags are empty while entries are still being added.
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/collisions.js
/**
 * Paths that a file system takes for one: where case or Unicode form does not count, `A` and `a`, or the file `a` and the directory
 * `A`, cannot both be there. git writes one after the other, and each takes the place of those before it, so that the last
 * one in the order of the index is left. Here they are found before anything is written, kept from the workers, and written
 * by the main thread in that order.
 *
 * Taking more paths for one than the file system does is harmless: those are merely written without workers.
 */






/** ASCII in small letters. */
const LOWER = new Uint8Array(128);
for (let byte = 0; byte < 128; byte++)
    LOWER[byte] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
/**
 * A name as the most forgiving file system compares it: without case, without what HFS+ ignores, and in one Unicode form.
 * Of bytes that are no UTF-8 all look alike.
 */
function foldName(name) {
    const text = bufferOver(name).toString('utf8');
    return text
        .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu, '')
        .normalize('NFD')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFC');
}
/** Finds the entries that cannot all be there where names fold; null when there are none. */
function findCollisions(tree) {
    const { tables, directories } = tree;
    const { count } = tables;
    // Directories that fold to one name are one directory: each gets the number of the first of them.
    const same = new Uint32Array(directories.count);
    const numbers = new Map();
    for (let i = 1; i < directories.count; i++) {
        if (directories.entryCount[i] === 0)
            continue;
        const key = `${same[directories.parent[i] ?? 0] ?? 0}/${directoryName(tree, i)}`;
        const first = numbers.get(key);
        if (first === undefined)
            numbers.set(key, i);
        same[i] = first ?? i;
    }
    // What has the same hash may have the same name; the entry's number is in the lower half.
    const keys = new BigUint64Array(count);
    const words = new Uint32Array(keys.buffer);
    for (let entry = 0; entry < count; entry++) {
        words[2 * entry] = entry;
        words[2 * entry + 1] = hashOf(tree, entry, same[tables.directories[entry] ?? 0] ?? 0);
    }
    keys.sort();
    const found = new Map();
    for (let start = 0; start < count;) {
        let end = start + 1;
        while (end < count && words[2 * end + 1] === words[2 * start + 1])
            end++;
        if (end > start + 1) {
            for (let i = start; i < end; i++) {
                const entry = words[2 * i] ?? 0;
                const key = keyOf(tree, entry, same);
                const others = found.get(key);
                if (others === undefined)
                    found.set(key, [entry]);
                else
                    others.push(entry);
            }
        }
        start = end;
    }
    const groups = new Uint32Array(count);
    let group = 0;
    for (const entries of found.values()) {
        if (entries.length < 2)
            continue;
        group++;
        for (const entry of entries)
            groups[entry] = group;
    }
    // A file that has the name of a directory collides with all that is in it.
    const fileNames = new Map();
    const ofDirectories = new Set();
    for (let i = 1; i < directories.count; i++) {
        if (directories.entryCount[i] === 0)
            continue;
        ofDirectories.add(hashOfText(directoryName(tree, i), same[directories.parent[i] ?? 0] ?? 0));
    }
    for (let i = 0; i < count && ofDirectories.size > 0; i++) {
        if (!ofDirectories.has(words[2 * i + 1] ?? 0))
            continue;
        const entry = words[2 * i] ?? 0;
        const key = keyOf(tree, entry, same);
        if (numbers.has(key))
            fileNames.set(key, entry);
    }
    if (fileNames.size > 0) {
        for (let i = 1; i < directories.count; i++) {
            const key = `${same[directories.parent[i] ?? 0] ?? 0}/${directoryName(tree, i)}`;
            const entry = fileNames.get(key);
            if (entry === undefined)
                continue;
            if (groups[entry] === 0)
                groups[entry] = ++group;
            const first = directories.firstEntry[i] ?? 0;
            const end = first + (directories.entryCount[i] ?? 0);
            for (let at = first; at < end; at++)
                if (groups[at] === 0)
                    groups[at] = groups[entry] ?? 0;
        }
    }
    return group === 0 ? null : { groups, count: group };
}
function directoryName({ directories, tables }, directory) {
    const start = tables.pathOffsets[directories.firstEntry[directory] ?? 0] ?? 0;
    const parent = directories.parent[directory] ?? 0;
    const nameAt = parent === 0 ? 0 : (directories.pathLength[parent] ?? 0) + 1;
    return foldName(tables.pathBytes.subarray(start + nameAt, start + (directories.pathLength[directory] ?? 0)));
}
/** Where an entry's own name starts in the paths. */
function nameStart({ directories, tables }, entry) {
    const directory = tables.directories[entry] ?? 0;
    return (tables.pathOffsets[entry] ?? 0) + (directory === 0 ? 0 : (directories.pathLength[directory] ?? 0) + 1);
}
function keyOf(tree, entry, same) {
    const { tables } = tree;
    const name = tables.pathBytes.subarray(nameStart(tree, entry), tables.pathOffsets[entry + 1]);
    return `${same[tables.directories[entry] ?? 0] ?? 0}/${foldName(name)}`;
}
/** FNV-1a over the folded name, which for ASCII needs no string. */
function hashOf(tree, entry, directory) {
    const { pathBytes, pathOffsets } = tree.tables;
    const start = nameStart(tree, entry);
    const end = pathOffsets[entry + 1] ?? 0;
    let hash = Math.imul(0x811c9dc5 ^ directory, 0x01000193);
    for (let i = start; i < end; i++) {
        const byte = pathBytes[i] ?? 0;
        if (byte >= 0x80)
            return hashOfText(foldName(pathBytes.subarray(start, end)), directory);
        hash = Math.imul(hash ^ (LOWER[byte] ?? 0), 0x01000193);
    }
    return hash >>> 0;
}
function hashOfText(text, directory) {
    let hash = Math.imul(0x811c9dc5 ^ directory, 0x01000193);
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return hash >>> 0;
}
/**
 * Files that this run wrote and that stand where others were to go: the file system takes more names for one than was foreseen.
 * They go back among the collided ones, so that all of them are written in order.
 */
function addPartners(tables, paths) {
    const inTheWay = new Set();
    for (let entry = 0; entry < tables.count; entry++) {
        if (tables.states[entry] !== State.COLLIDED)
            continue;
        const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        try {
            const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
            if (stat?.isFile() === true)
                inTheWay.add(`${BigInt.asUintN(32, stat.dev)} ${BigInt.asUintN(32, stat.ino)}`);
        }
        catch (error) {
            if (errnoOf(error) === undefined)
                throw error;
        }
    }
    for (let entry = 0; entry < tables.count && inTheWay.size > 0; entry++) {
        if (tables.states[entry] !== State.WRITTEN)
            continue;
        const at = entry * STAT_WORDS;
        const ino = tables.stats[at + STAT.ino] ?? 0;
        if (ino === 0 || !inTheWay.has(`${tables.stats[at + STAT.dev] ?? 0} ${ino}`))
            continue;
        tables.states[entry] = State.COLLIDED;
    }
}
/** How many paths a warning names. */
const MOST_NAMED = 100;
/** What a clone says of the groups in which paths have displaced others; git's words, in one line. */
function collisionWarning(tables, groups, hit) {
    const named = [];
    let more = 0;
    for (let entry = 0; entry < tables.count; entry++) {
        if (!hit.has(groups[entry] ?? 0))
            continue;
        if (named.length === MOST_NAMED)
            more++;
        else
            named.push(`'${displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0)}'`);
    }
    const rest = more === 0 ? '' : ` and ${more} more`;
    return `the following paths have collided (e.g. case-sensitive paths on a case-insensitive filesystem) and only one from the same colliding group is in the working tree: ${named.join(', ')}${rest}`;
}
/**
 * Whether the file system of a working tree takes `.GIT` for `.git`, where it has one; false where it has none. What was said when
 * the repository was made (core.ignoreCase) need not hold where it is now.
 */
function foldsCase(workTree) {
    try {
        const [lower, upper] = ['.git', '.GIT'].map((name) => lstatSync(`${workTree}/${name}`, { bigint: true, throwIfNoEntry: false }));
        return lower !== undefined && upper !== undefined && lower.ino === upper.ino && lower.dev === upper.dev;
    }
    catch (error) {
        if (errnoOf(error) === undefined)
            throw error;
        return false;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/clean-walk.js
/**
 * Removes from the working tree what the index does not have, as `git clean -ffdx`: untracked and ignored files, links, empty
 * directories, nested repositories; but for what patterns keep. Directories are walked along with the index, whose
 * entries below a directory lie together: each name that the system lists is looked up among its directory's own
 * entries, and a tracked file costs nothing more.
 *
 * The rules are those of git: an entry named `.git` is never looked at, nor a named pipe, socket or device; nothing in a submodule's directory is touched; a
 * nested repository goes or stays as a whole; a link is never followed. What stands where a tracked file goes is the checkout's.
 *
 * The unit of work is a place, a directory. Places do not depend on each other until they are left, so threads share them (clean.ts).
 */










/** Without an index nothing is tracked. */
function trackedPaths(index) {
    return (index ?? {
        count: 0,
        pathBytes: new Uint8Array(0),
        pathOffsets: new Uint32Array(1),
        modes: new Uint32Array(0),
        flags: new Uint16Array(0),
    });
}
/** Rules as `git clean --exclude` takes them: what a gitignore file's lines come to. */
function excludePatterns(exclude) {
    return parseSparsePatterns(Buffer.from(exclude.join('\n'), 'utf8')).filter(({ pattern }) => pattern.length > 0);
}
const clean_walk_SLASH = 0x2f;
const DOT_GIT = '.git';
/** Compares the path as it is, with nothing behind it. */
const NOTHING = -1;
/** One thread's walk. */
class CleanWalk {
    /** Files and links that are gone; directories are not counted. */
    removed = 0;
    /** What could not be removed, a line each. */
    failures = [];
    /** What could not be looked into, a line each; git does not count that as a failure. */
    unread = [];
    #rules;
    #tracked;
    #paths;
    /** null without patterns. */
    #kept;
    #spared;
    #keep;
    /** Path of what is being looked at, below the working tree. */
    #path = Buffer.alloc(4096);
    constructor(rules) {
        this.#rules = rules;
        this.#tracked = rules.tracked;
        this.#paths = new WorktreePaths(rules.workTree);
        const patterns = excludePatterns(rules.exclude);
        this.#kept = patterns.length === 0 ? null : listMatcher(patterns, rules.ignoreCase);
        this.#keep = Buffer.from(rules.keep, 'utf8');
        this.#spared = rules.spared.map((path) => Buffer.from(path, 'utf8'));
    }
    /** Where a walk begins. */
    static root({ tracked }) {
        return { path: new Uint8Array(0), name: 0, ranges: [0, tracked.count, 0], whole: false };
    }
    /** Removes what is untracked directly in the place, and adds the directories that are to be visited to `below`. */
    visit(place, below) {
        const { path, name, ranges } = place;
        const end = path.length;
        if (end > 0) {
            const absolute = this.#paths.absolute(path, 0, end);
            const type = this.#typeOf(absolute);
            if (type === null)
                return 'gone';
            if (type === 'other')
                return 'stays';
            const isDirectory = type === 'directory';
            if (!place.whole && this.#isKept(path, name, end, isDirectory))
                return 'stays';
            // What was tracked below here is no more: this is a file or a link like any other.
            if (!isDirectory)
                return this.#unlink(absolute, path, end) ? 'gone' : 'stays';
            if (this.#isSpared(absolute))
                return 'stays';
        }
        if (ranges.length === 0)
            return this.#visitUntracked(place, below);
        this.#visitTracked(place, below);
        return 'stays';
    }
    /** Removes an open place when all below it was visited and left; says whether something in it stays. */
    leave({ path }, stays) {
        if (stays)
            return true;
        const absolute = this.#paths.absolute(path, 0, path.length);
        if (absolute.equals(this.#keep))
            return true;
        try {
            (0,external_node_fs_namespaceObject.rmdirSync)(absolute);
            return false;
        }
        catch (error) {
            const errno = errors_errnoOf(error);
            if (errno === undefined)
                throw error;
            if (errno === 'ENOENT')
                return false;
            if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST')
                return this.#failed(path, path.length, errno);
        }
        // A `.git` that makes no repository is not looked at, and does not keep a directory either.
        try {
            removeAll(absolute, this.#rules.keep);
            return false;
        }
        catch (error) {
            if (!(error instanceof errors_CheckoutError))
                throw error;
            return this.#failed(path, path.length, error.subject.errno ?? error.message);
        }
    }
    #visitTracked(place, below) {
        const prefix = this.#enter(place.path);
        const children = this.#rules.foldsNames ? this.#foldedChildren(place.ranges) : null;
        // Types are asked for only where they matter for tracked names.
        const read = this.#kept === null ? this.#names(place) : this.#typedNames(place);
        if (typeof read === 'string') {
            this.#notRead(place.path, read);
            return;
        }
        const types = read instanceof Map ? read : null;
        const names = read instanceof Map ? [...read.keys()] : read;
        for (const name of names) {
            if (name === DOT_GIT)
                continue;
            const end = this.#append(prefix, name);
            const found = children === null ? this.#lookUp(place.ranges, name) : lookUpFolded(children, name);
            if (found === null) {
                this.#untracked(prefix, end, types?.get(name) ?? null, below);
                continue;
            }
            const ranges = found.ranges;
            if (found.isEntry) {
                const isDirectory = types?.get(name) === 'directory';
                if (ranges.length > 0) {
                    // A conflict of a file and a directory, or names that fold: what is on disk decides.
                    if (this.#typeOf(this.#paths.absolute(this.#path, 0, end)) !== 'directory')
                        continue;
                }
                else {
                    if (found.isGitlink || !isDirectory)
                        continue;
                    // A directory in the place of a tracked file is the checkout's to remove, unless something in it is kept.
                    const inside = this.#place(prefix, end, [], false);
                    if (this.#holdsKept(inside))
                        below.push(inside);
                    this.#enter(place.path);
                    continue;
                }
            }
            below.push(this.#place(prefix, end, ranges, false));
        }
    }
    #visitUntracked(place, below) {
        const whole = place.whole || this.#kept === null || isNestedRepository(this.#paths, place.path);
        const entries = this.#typedNames(place);
        if (typeof entries === 'string') {
            // One that is empty can be removed without having been read.
            const absolute = this.#paths.absolute(place.path, 0, place.path.length);
            try {
                (0,external_node_fs_namespaceObject.rmdirSync)(absolute);
                return 'gone';
            }
            catch (error) {
                const errno = errors_errnoOf(error);
                if (errno === undefined)
                    throw error;
                this.#failed(place.path, place.path.length, errno === 'ENOTEMPTY' ? entries : errno);
                return 'stays';
            }
        }
        const prefix = this.#enter(place.path);
        let stays = false;
        for (const [name, type] of entries) {
            if (!whole && (type === 'other' || this.#isDotGit(name)))
                continue;
            const end = this.#append(prefix, name);
            if (type === 'directory')
                below.push(this.#place(prefix, end, [], whole));
            else if (!whole && this.#isKept(this.#path, prefix, end, false))
                stays = true;
            else if (!this.#unlink(this.#paths.absolute(this.#path, 0, end), this.#path, end))
                stays = true;
        }
        return stays ? 'stays' : 'open';
    }
    /** An untracked name of a tracked directory. */
    #untracked(name, end, known, below) {
        const absolute = this.#paths.absolute(this.#path, 0, end);
        const type = known ?? this.#typeOf(absolute);
        if (type === null || type === 'other')
            return;
        if (type === 'directory')
            below.push(this.#place(name, end, [], false));
        else if (!this.#isKept(this.#path, name, end, false))
            this.#unlink(absolute, this.#path, end);
    }
    /** Whether patterns keep something in an untracked directory. */
    #holdsKept(place) {
        const { path, name } = place;
        if (this.#isKept(path, name, path.length, true))
            return true;
        if (isNestedRepository(this.#paths, path))
            return false;
        const directories = [];
        const prefix = this.#enter(path);
        const entries = this.#typedNames(place);
        // What cannot be read may hold anything.
        if (typeof entries === 'string')
            return true;
        for (const [child, type] of entries) {
            if (type === 'other' || this.#isDotGit(child))
                continue;
            const end = this.#append(prefix, child);
            if (type === 'directory')
                directories.push(this.#place(prefix, end, [], false));
            else if (this.#isKept(this.#path, prefix, end, false))
                return true;
        }
        return directories.some((directory) => this.#holdsKept(directory));
    }
    #isDotGit(name) {
        return name === DOT_GIT || (this.#rules.foldsNames && foldName(Buffer.from(name, 'latin1')) === DOT_GIT);
    }
    #isKept(path, name, end, isDirectory) {
        return this.#kept !== null && this.#kept.includes(path, 0, name, end, isDirectory, this.#kept.root);
    }
    #isSpared(absolute) {
        for (const path of this.#spared)
            if (path.length === absolute.length && path.equals(absolute))
                return true;
        return false;
    }
    #place(name, end, ranges, whole) {
        return { path: Uint8Array.from(this.#path.subarray(0, end)), name, ranges, whole };
    }
    /** Makes `path` and a slash the beginning of the current path; returns where names go. */
    #enter(path) {
        if (path.length === 0)
            return 0;
        this.#reserve(path.length + 1);
        this.#path.set(path);
        this.#path[path.length] = clean_walk_SLASH;
        return path.length + 1;
    }
    /** Puts a name, one character a byte, behind the first `prefix` bytes of the current path; returns its end. */
    #append(prefix, name) {
        this.#reserve(prefix + name.length);
        return prefix + this.#path.write(name, prefix, 'latin1');
    }
    #reserve(length) {
        if (length <= this.#path.length)
            return;
        const grown = Buffer.alloc(2 * length);
        this.#path.copy(grown);
        this.#path = grown;
    }
    /** null where there is nothing, or nothing that may be looked at. */
    #typeOf(absolute) {
        try {
            const stat = (0,external_node_fs_namespaceObject.lstatSync)(absolute, { throwIfNoEntry: false });
            return stat === undefined ? null : typeOf(stat);
        }
        catch (error) {
            if (errors_errnoOf(error) === undefined)
                throw error;
            return null;
        }
    }
    /** The names in a place, one character a byte; the errno if it cannot be read. */
    #names({ path }) {
        try {
            return (0,external_node_fs_namespaceObject.readdirSync)(this.#paths.absolute(path, 0, path.length), 'latin1');
        }
        catch (error) {
            const errno = errors_errnoOf(error);
            if (errno === undefined)
                throw error;
            return errno;
        }
    }
    /** The names in a place, and the type of each; the errno if it cannot be read. */
    #typedNames({ path }) {
        const names = new Map();
        let entries;
        const absolute = this.#paths.absolute(path, 0, path.length);
        try {
            entries = (0,external_node_fs_namespaceObject.readdirSync)(absolute, { withFileTypes: true, encoding: 'buffer' });
        }
        catch (error) {
            const errno = errors_errnoOf(error);
            if (errno === undefined)
                throw error;
            return errno;
        }
        const directory = Buffer.concat([absolute, Buffer.of(clean_walk_SLASH)]);
        for (const entry of entries) {
            // Some file systems do not tell the type along with the name; what is gone again does not matter.
            const type = typeOf(entry) === 'other' ? this.#typeOf(Buffer.concat([directory, entry.name])) : typeOf(entry);
            if (type !== null)
                names.set(entry.name.toString('latin1'), type);
        }
        return names;
    }
    #notRead(path, errno) {
        if (errno !== 'ENOENT')
            this.unread.push(`cannot look into '${paths_displayPath(path, 0, path.length) || '.'}': ${errno}`);
    }
    /** Removes a file or link; false if it stays. */
    #unlink(absolute, path, end) {
        if (this.#isSpared(absolute))
            return false;
        try {
            (0,external_node_fs_namespaceObject.unlinkSync)(absolute);
            this.removed++;
            return true;
        }
        catch (error) {
            const errno = errors_errnoOf(error);
            if (errno === undefined)
                throw error;
            if (errno === 'ENOENT')
                return true;
            this.#failed(path, end, errno);
            return false;
        }
    }
    #failed(path, end, why) {
        this.failures.push(`cannot remove '${paths_displayPath(path, 0, end)}': ${why}`);
        return true;
    }
    /** What the index has of a name in a directory; null for nothing. */
    #lookUp(ranges, name) {
        const [low = 0, high = 0, prefix = 0] = ranges;
        const at = this.#first(low, high, prefix, name, NOTHING);
        const isEntry = at < high && this.#compare(at, prefix, name, NOTHING) === 0;
        if (isEntry && ((this.#tracked.flags[at] ?? 0) & FLAG.stage) === 0) {
            return this.#tracked.modes[at] === tree_MODE_GITLINK ? GITLINK : FILE;
        }
        const from = this.#first(at, high, prefix, name, clean_walk_SLASH);
        const to = from < high ? this.#first(from, high, prefix, name, clean_walk_SLASH + 1) : from;
        if (to > from)
            return { isEntry, isGitlink: false, ranges: [from, to, prefix + name.length + 1] };
        if (!isEntry)
            return null;
        return this.#tracked.modes[at] === tree_MODE_GITLINK ? GITLINK : FILE;
    }
    /** The children of a directory by their folded names. */
    #foldedChildren(ranges) {
        const { pathBytes, pathOffsets, modes } = this.#tracked;
        const children = new Map();
        for (let i = 0; i < ranges.length; i += 3) {
            const high = ranges[i + 1] ?? 0;
            const prefix = ranges[i + 2] ?? 0;
            for (let entry = ranges[i] ?? 0; entry < high;) {
                const start = (pathOffsets[entry] ?? 0) + prefix;
                const end = pathOffsets[entry + 1] ?? 0;
                const slash = pathBytes.subarray(start, end).indexOf(clean_walk_SLASH);
                const bytes = pathBytes.subarray(start, slash < 0 ? end : start + slash);
                const key = foldName(bytes);
                const { isEntry = false, isGitlink = false, ranges: before = [] } = children.get(key) ?? {};
                if (slash < 0) {
                    children.set(key, { isEntry: true, isGitlink: isGitlink || modes[entry] === tree_MODE_GITLINK, ranges: before });
                    entry++;
                }
                else {
                    const text = Buffer.from(bytes).toString('latin1');
                    const to = this.#first(entry, high, prefix, text, clean_walk_SLASH + 1);
                    children.set(key, { isEntry, isGitlink, ranges: [...before, entry, to, prefix + text.length + 1] });
                    entry = to;
                }
            }
        }
        return children;
    }
    /** The first entry in [low, high) that is not before the name with the byte `extra` behind it. */
    #first(low, high, prefix, name, extra) {
        let from = low;
        let to = high;
        while (from < to) {
            const middle = (from + to) >>> 1;
            if (this.#compare(middle, prefix, name, extra) < 0)
                from = middle + 1;
            else
                to = middle;
        }
        return from;
    }
    /** Order of an entry's path, from `prefix` on, and of a name with the byte `extra` behind it, unless that is NOTHING. */
    #compare(entry, prefix, name, extra) {
        const { pathBytes, pathOffsets } = this.#tracked;
        const start = (pathOffsets[entry] ?? 0) + prefix;
        const length = (pathOffsets[entry + 1] ?? 0) - start;
        const shared = length < name.length ? length : name.length;
        for (let i = 0; i < shared; i++) {
            const difference = (pathBytes[start + i] ?? 0) - name.charCodeAt(i);
            if (difference !== 0)
                return difference;
        }
        if (length < name.length)
            return -1;
        if (extra === NOTHING)
            return length - name.length;
        if (length === name.length)
            return -1;
        return (pathBytes[start + name.length] ?? 0) - extra || length - name.length - 1;
    }
}
function typeOf(entry) {
    if (entry.isDirectory())
        return 'directory';
    return entry.isFile() || entry.isSymbolicLink() ? 'file' : 'other';
}
const FILE = { isEntry: true, isGitlink: false, ranges: [] };
const GITLINK = { isEntry: true, isGitlink: true, ranges: [] };
/** `.GIT` is the git directory where names fold. */
function lookUpFolded(children, name) {
    const key = foldName(Buffer.from(name, 'latin1'));
    return key === DOT_GIT ? GITLINK : (children.get(key) ?? null);
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/clean-share.js
/**
 * The part of a clean that threads share: places that do not depend on each other, each claimed by adding one to a counter.
 * The main thread works on them as well.
 */

/** Words of a share's control, used through Atomics only. */
const NEXT_PLACE = 0;
const STOP_CLEAN = 1;
/** What became of a place. */
const PlaceState = { OPEN: 0, GONE: 1, STAYS: 2 };
/** One place and all that is below it, a directory a step, depth first. */
class Descent {
    /** Whether something in it stays; known when it is done. */
    stays = false;
    #walk;
    #frames = [];
    constructor(walk, place) {
        this.#walk = walk;
        this.#visit(place);
    }
    /** False when all is done. */
    step() {
        const frame = this.#frames[this.#frames.length - 1];
        if (frame === undefined)
            return false;
        const next = frame.below.pop();
        if (next !== undefined) {
            this.#visit(next);
            return true;
        }
        this.#frames.pop();
        const stays = frame.open ? this.#walk.leave(frame.place, frame.stays) : frame.stays;
        this.#settle(stays);
        return true;
    }
    #visit(place) {
        const below = [];
        const visit = this.#walk.visit(place, below);
        if (visit === 'gone')
            this.#settle(false);
        else if (below.length === 0 && visit === 'stays')
            this.#settle(true);
        else
            this.#frames.push({ place, below, open: visit === 'open', stays: visit === 'stays' });
    }
    #settle(stays) {
        const above = this.#frames[this.#frames.length - 1];
        if (above === undefined)
            this.stays = stays;
        else if (stays)
            above.stays = true;
    }
}
/** Claims the next place of a share; null when none is left or it is to stop. */
function claimPlace({ places, control }) {
    if (Atomics.load(control, STOP_CLEAN) !== 0)
        return null;
    const at = Atomics.add(control, NEXT_PLACE, 1);
    return at < places.length ? at : null;
}
/** Runs one worker's part of a share. */
function cleanShare(share) {
    const walk = new CleanWalk(share.rules);
    for (let at = claimPlace(share); at !== null; at = claimPlace(share)) {
        const place = share.places[at];
        if (place === undefined)
            break;
        const descent = new Descent(walk, place);
        while (Atomics.load(share.control, STOP_CLEAN) === 0 && descent.step())
            ;
        if (Atomics.load(share.control, STOP_CLEAN) === 0)
            finishPlace(share, at, descent);
    }
    return { removed: walk.removed, failures: walk.failures, unread: walk.unread };
}
/** Notes what became of a place. */
function finishPlace({ states }, at, { stays }) {
    Atomics.store(states, at, stays ? PlaceState.STAYS : PlaceState.GONE);
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

;// CONCATENATED MODULE: ./build/js/engine/oid.js
const SHA1 = { name: 'sha1', oidBytes: 20 };
const SHA256 = { name: 'sha256', oidBytes: 32 };
/** The longest id of any format: what a buffer for one must hold. */
const MAX_OID_BYTES = 32;
const HEX = /^[0-9a-f]+$/i;
/** Whether the text is a full id of the format: as many hexadecimal digits, small or capital, and nothing else. */
function isHexOid(text, format) {
    return text.length === 2 * format.oidBytes && HEX.test(text);
}
/** The format that the text is a full id of; null for anything else. */
function formatOfHexOid(text) {
    return [SHA1, SHA256].find((format) => isHexOid(text, format)) ?? null;
}
/** Hexadecimal digits -> bytes. The caller has checked the digits. */
function oid_oidFromHex(hex) {
    return new Uint8Array(Buffer.from(hex, 'hex'));
}
/** The id that starts at `offset` of `bytes`, in hexadecimal. */
function oidToHex(bytes, offset, oidBytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + offset, oidBytes).toString('hex');
}
/** Whether the ids at two places are equal. */
function oid_oidEquals(a, aOffset, b, bOffset, oidBytes) {
    for (let i = 0; i < oidBytes; i++)
        if (a[aOffset + i] !== b[bOffset + i])
            return false;
    return true;
}

;// CONCATENATED MODULE: ./build/js/engine/filter/ident.js



const DOLLAR = 0x24;
const ident_COLON = 0x3a;
const ident_SPACE = 0x20;
const ident_LF = 0x0a;
const LETTER_I = 0x49;
const LETTER_D = 0x64;
/** `Id: <hex> $`, what follows the opening dollar of an expanded keyword. */
function expansion(oid) {
    return Buffer.from(`Id: ${oidToHex(oid, 0, oid.length)} $`, 'latin1');
}
/**
 * Pushes `content[0, length)` with its keywords expanded, as git does with content in memory. Returns how many were
 * expanded.
 */
function expandInCore(content, length, oid, sink) {
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
        else if (bytes[at + 2] === ident_COLON) {
            const close = bytes.indexOf(DOLLAR, at + 3);
            if (close < 0)
                break;
            if (hasByte(bytes, ident_LF, at + 3, close))
                continue;
            // A space inside, other than the last byte, is the sign of another system's keyword, which is kept. The search
            // goes on right after the opening dollar, so that the closing one may open the next.
            const space = firstByte(bytes, ident_SPACE, at + 4, close);
            if (space >= 0 && space < close - 1)
                continue;
            next = close + 1;
        }
        else {
            continue;
        }
        expanded ??= expansion(oid);
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
const FOREIGN_HEAD = Uint8Array.of(DOLLAR, LETTER_I, LETTER_D, ident_COLON, ident_SPACE);
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
    constructor(sink, oid, drainSize, limit = HELD_LIMIT) {
        this.#sink = sink;
        this.#expanded = expansion(oid);
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
            if (byte === ident_COLON)
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
        while (end < bytes.length && bytes[end] !== DOLLAR && bytes[end] !== ident_LF)
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
            if ((byte === ident_SPACE || byte === 0x09 || byte === 0x0d) && held[i + 1] !== DOLLAR)
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
const sinks_CR = 0x0d;
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
    if (byte === sinks_CR || byte === NUL)
        return IS_CR_OR_NUL;
    const printable = (byte >= 0x20 && byte !== 0x7f) || byte === 0x08 || byte === 0x09 || byte === 0x0c || byte === 0x1b;
    return printable ? 0 : IS_NONPRINTABLE;
});
/** From here on, looking at four bytes at a time pays for the view that it takes. */
const WORDS_PAY = 64;
/** A view for reading or writing four bytes at once, at any place. */
function wordsOf(bytes) {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
/** Not 0 where one of four bytes has a mark: is below 0x20, or 0x7f. (Bytes below 0x20 without a mark are caught, too.) */
function mayHaveMarks(word) {
    const del = word ^ 0x7f7f7f7f;
    return (((word - 0x20202020) & ~word) | ((del - 0x01010101) & ~del)) & 0x80808080;
}
/** Not 0 where one of four bytes is a line feed. */
function hasLineFeed(word) {
    const difference = word ^ 0x0a0a0a0a;
    return (difference - 0x01010101) & ~difference & 0x80808080;
}
/** Sum of the marks of `content[at, end)`, at most a block. Four bytes at a time took 0.4 of the time of one by one. */
function sumMarks(content, words, start, end) {
    let marks = 0;
    let at = start;
    if (words !== null) {
        for (const last = end - 4; at <= last; at += 4) {
            if (mayHaveMarks(words.getInt32(at, true)) === 0)
                continue;
            marks += MARKS[content[at]] + MARKS[content[at + 1]] + MARKS[content[at + 2]] + MARKS[content[at + 3]];
        }
    }
    for (; at < end; at++)
        marks += MARKS[content[at]];
    return marks;
}
/**
 * Line feeds that automatic conversion turns into CR LF in `content[0, length)`: all, or none (0) when the content has a
 * CR, or a NUL, or so many control characters that git takes it for binary.
 */
function autoLineFeeds(content, length) {
    let lineFeeds = 0;
    let nonprintable = 0;
    const words = length < WORDS_PAY ? null : wordsOf(content);
    for (let at = 0; at < length; at += BLOCK) {
        const marks = sumMarks(content, words, at, Math.min(length, at + BLOCK));
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
    const words = length < WORDS_PAY ? null : wordsOf(content);
    for (let start = 0; start < length; start += BLOCK) {
        const end = Math.min(length, start + BLOCK);
        const marks = sumMarks(content, words, start, end);
        if (marks < IS_CR_OR_NUL && previous !== sinks_CR) {
            count += marks & (IS_NONPRINTABLE - 1);
            previous = content[end - 1];
            continue;
        }
        for (let i = start; i < end; i++) {
            const byte = content[i];
            if (byte === sinks_LF && previous !== sinks_CR)
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
    let i = start;
    if (end - start >= WORDS_PAY) {
        const from = wordsOf(bytes);
        const to = wordsOf(out);
        for (const last = end - 4; i <= last;) {
            const word = from.getInt32(i, true);
            if (hasLineFeed(word) === 0) {
                to.setInt32(at, word, true);
                at += 4;
                i += 4;
                previous = word >>> 24;
                continue;
            }
            // Up to and with the line feed, so that four bytes at a time go on right behind it.
            let byte = bytes[i++];
            while (byte !== sinks_LF) {
                out[at++] = byte;
                previous = byte;
                byte = bytes[i++];
            }
            if (previous !== sinks_CR)
                out[at++] = sinks_CR;
            out[at++] = sinks_LF;
            previous = sinks_LF;
        }
    }
    for (; i < end; i++) {
        const byte = bytes[i];
        if (byte === sinks_LF && previous !== sinks_CR)
            out[at++] = sinks_CR;
        out[at++] = byte;
        previous = byte;
    }
    return at;
}
/**
 * Decides about `content[0, length)` as `autoLineFeeds` and copies it as `copyWithCrlf`, in one pass over the content: on the Linux
 * tree that takes two thirds of the time of both. `out` must have room for twice the content.
 * @returns the size of the result; -1 when the content stays as it is, and `out` holds nothing of use
 */
function copyAutoCrlf(content, length, out) {
    const from = wordsOf(content);
    const to = wordsOf(out);
    let at = 0;
    let lineFeeds = 0;
    let nonprintable = 0;
    for (let i = 0; i < length;) {
        const end = Math.min(length, i + BLOCK);
        let marks = 0;
        while (i < end) {
            if (i <= end - 4) {
                const word = from.getInt32(i, true);
                if (mayHaveMarks(word) === 0) {
                    to.setInt32(at, word, true);
                    at += 4;
                    i += 4;
                    continue;
                }
            }
            for (const stop = Math.min(end, i + 4); i < stop; i++) {
                const byte = content[i];
                marks += MARKS[byte];
                if (byte === sinks_LF)
                    out[at++] = sinks_CR;
                out[at++] = byte;
            }
        }
        if (marks >= IS_CR_OR_NUL)
            return -1;
        lineFeeds += marks & (IS_NONPRINTABLE - 1);
        nonprintable += marks >> 10;
    }
    if (lineFeeds === 0 || looksBinary(length, lineFeeds, nonprintable, content[length - 1]))
        return -1;
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
                if (previous !== sinks_CR)
                    this.bareLineFeeds++;
            }
            else if (MARKS[byte] === IS_NONPRINTABLE) {
                this.#nonprintable++;
            }
            else if (byte === sinks_CR || byte === NUL) {
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




/**
 * Size in bytes of what `content[0, length)` is converted to, or -1 when it stays as it is. `oid` is as in `convertInto`; only
 * its length counts.
 */
function convertedSize(conversion, content, length, oid) {
    if (conversion.kind === 'none' || length === 0)
        return -1;
    refuseGit(conversion);
    if (conversion.ident && mayHaveKeyword(content, length)) {
        const measure = new Measure();
        const changed = pushIdent(conversion, content, length, oid, measure);
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
 * `oid` is what ident shows, raw and whole: the blob's id. It may be empty where the conversion has no ident. In the in-core kind git shows the id of the actual bytes,
 * which is another one where a replace ref stands in for the blob.
 */
function convertInto(conversion, content, length, oid, out) {
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
        pushIdent(conversion, content, length, oid, measure);
        crlf = addedByEol(conversion, measure) > 0;
    }
    const writer = new MemoryWriter(out, crlf);
    pushIdent(conversion, content, length, oid, writer);
    return writer.length;
}
/**
 * A converter for one blob. `oid` is the blob's id, raw and whole; it may be empty where the conversion has no ident. `identLimit` bounds what ident may hold, by default
 * 16 MiB.
 */
function createStreamConverter(conversion, oid, identLimit) {
    if (conversion.kind === 'none')
        return { push: (piece, write) => write(piece), end: () => undefined };
    if (conversion.kind !== 'stream')
        throw errors_bug(`content of the ${conversion.kind} kind cannot be converted in pieces`);
    const crlf = conversion.crlf === 'text';
    const writer = new PieceWriter(crlf);
    const ident = conversion.ident ? new IdentStream(writer, oid, drainSize(conversion), identLimit) : null;
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
function refuseGit({ kind, reason }) {
    if (kind === 'git' || kind === 'refused')
        throw errors_bug(`content that is not ours to convert: ${reason ?? ''}`);
}
/** Both implementations leave content without a `$Id` alone. */
function mayHaveKeyword(content, length) {
    return bufferOver(content, 0, length).includes('$Id', 0, 'latin1');
}
/** Pushes the content with its keywords expanded; returns whether anything changed. */
function pushIdent(conversion, content, length, oid, sink) {
    if (conversion.kind !== 'stream')
        return expandInCore(content, length, oid, sink) > 0;
    const stream = new IdentStream(sink, oid, drainSize(conversion), Infinity);
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

;// CONCATENATED MODULE: ./build/js/engine/filter/lfs-pointer.js
const lfs_pointer_HEAD = Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:');
const MIDDLE = Buffer.from('\nsize ');
/** Hexadecimal digits of the object's SHA-256. */
const lfs_pointer_HEX = 64;
/** Where the digits begin, and where the size does. */
const OID_AT = lfs_pointer_HEAD.length;
const SIZE_AT = OID_AT + lfs_pointer_HEX + MIDDLE.length;
/** 15 digits fit a number exactly, and no file is larger. */
const MOST_DIGITS = 15;
const ZERO = 0x30;
const NINE = 0x39;
const LINE_FEED = 0x0a;
/** The longest pointer of this spelling. */
const LFS_POINTER_BYTES = SIZE_AT + MOST_DIGITS + 1;
/**
 * The size in bytes of the file that a pointer stands for; -1 where `content` is no pointer as git-lfs writes them.
 */
function lfsPointerSize(content) {
    const { length } = content;
    if (length > LFS_POINTER_BYTES || length < SIZE_AT + 2 || content[length - 1] !== LINE_FEED)
        return -1;
    for (let i = 0; i < OID_AT; i++)
        if (content[i] !== lfs_pointer_HEAD[i])
            return -1;
    for (let i = 0; i < MIDDLE.length; i++)
        if (content[OID_AT + lfs_pointer_HEX + i] !== MIDDLE[i])
            return -1;
    for (let i = OID_AT; i < OID_AT + lfs_pointer_HEX; i++) {
        const byte = content[i] ?? 0;
        if (!((byte >= ZERO && byte <= NINE) || (byte >= 0x61 && byte <= 0x66)))
            return -1;
    }
    // git-lfs makes no pointers for empty files.
    if (content[SIZE_AT] === ZERO)
        return -1;
    let size = 0;
    for (let i = SIZE_AT; i < length - 1; i++) {
        const byte = content[i] ?? 0;
        if (byte < ZERO || byte > NINE)
            return -1;
        size = size * 10 + (byte - ZERO);
    }
    return size;
}
/** The SHA-256 of the file that a pointer stands for, as 64 hexadecimal digits. Of content that is a pointer only. */
function lfsPointerOid(content) {
    return Buffer.from(content.buffer, content.byteOffset + OID_AT, lfs_pointer_HEX).toString('latin1');
}

;// CONCATENATED MODULE: external "node:path"
const external_node_path_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");
;// CONCATENATED MODULE: ./build/js/engine/filter/lfs-store.js
/**
 * Where Git LFS keeps its files on this machine, and whether its filter driver would bring them: what is in the store need not go
 * through a process, one file after the other.
 */

/** What git-lfs's installer writes into the configuration: `git lfs install`, and with --skip-smudge. */
const PROCESS = /^git-lfs filter-process( --skip)?$/;
const SMUDGE = /^git-lfs smudge( --skip)? -- %f$/;
/** How a command of a filter driver treats pointers if it is git-lfs's own; null for all others. Pure. */
function lfsCommand(command, longRunning) {
    const match = (longRunning ? PROCESS : SMUDGE).exec(command);
    return match === null ? null : { skip: match[1] !== undefined };
}
/**
 * The local store; null where its place is written in a way that only git-lfs expands. Pure.
 * Source: git-lfs-config(5), "lfs.storage"; GIT_LFS_SKIP_SMUDGE as git-lfs reads booleans.
 */
function lfsStore({ storage, commonDir, environment }) {
    const home = environment['HOME'] ?? '';
    const expanded = storage !== undefined && /^~(\/|$)/.test(storage) && home !== '' ? home + storage.slice(1) : storage;
    if (expanded !== undefined && /^$|^[~%]/.test(expanded))
        return null;
    const directory = expanded === undefined ? join(commonDir, 'lfs') : isAbsolute(expanded) ? expanded : join(commonDir, expanded);
    const skip = /^(true|1|on|yes|t)$/i.test(environment['GIT_LFS_SKIP_SMUDGE'] ?? '');
    return { objects: join(directory, 'objects'), skip };
}
/** Path of an object of the store. */
function lfsObjectPath(store, oid) {
    // Not `join`, which looks at every character again: a fifth of what a worker computes for a file.
    return `${store.objects}${external_node_path_namespaceObject.sep}${oid.slice(0, 2)}${external_node_path_namespaceObject.sep}${oid.slice(2, 4)}${external_node_path_namespaceObject.sep}${oid}`;
}

;// CONCATENATED MODULE: ./build/js/engine/index/stat-words.js



const NANOSECONDS = 1000000000n;
/** Id of the empty blob: the hash of "blob 0" and a NUL. */
const EMPTY_BLOB = {
    sha1: oid_oidFromHex('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'),
    sha256: oid_oidFromHex('473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813'),
};
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
/**
 * What git 2.43 and later store for a file whose size is a multiple of 4 GiB: its low 32 bits would be 0, which means "look at the
 * content". Older ones store that 0, and would take this for another size, so we do too: it is right with all of them, and
 * git looks at the content once.
 */
const FULL_GIBIBYTES = 0x8000_0000;
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
    out[at + index_table_STAT.size] = lowWord(stat.size);
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
    const full = scratch[STAT.size] === 0 && stat.size !== 0n && words[at + STAT.size] === FULL_GIBIBYTES;
    if (differs(STAT.mtimeSeconds) || (differs(STAT.size) && !full))
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
function isEmptyBlob(oids, offset, format) {
    return oidEquals(oids, offset, EMPTY_BLOB[format.name], 0, format.oidBytes);
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

;// CONCATENATED MODULE: external "node:crypto"
const external_node_crypto_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:crypto");
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
const MAX_ENTRY_HEADER_BYTES = MOST_VARINT_BYTES + Math.max(MOST_VARINT_BYTES, MAX_OID_BYTES);
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
    #oidBytes;
    /** @param oidBytes length of the ids (ObjectFormat.oidBytes) */
    constructor(oidBytes) {
        this.#oidBytes = oidBytes;
    }
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
            if (cursor + this.#oidBytes > end)
                return false;
            this.baseOidAt = cursor;
            cursor += this.#oidBytes;
        }
        else if (type === 0 || type === 5) {
            return false;
        }
        this.length = cursor - at;
        return true;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/odb/object-checksum.js
/**
 * The id that an object's content has, to be held against the id under which it was found: git does this when it fetches, and
 * not when it checks out; `verify` asks for it.
 */




class ObjectChecksum {
    #hash;
    #oidBytes;
    /** @param size of the whole object: it is hashed before the content */
    constructor(format, type, size) {
        this.#oidBytes = format.oidBytes;
        this.#hash = (0,external_node_crypto_namespaceObject.createHash)(format.name).update(`${typeName(type)} ${size}\0`);
    }
    update(piece) {
        this.#hash.update(piece);
        return this;
    }
    /**
     * To be called when all of the content was seen.
     * @throws CheckoutError object-corrupt when it has another id
     */
    check(oid, oidAt) {
        const actual = this.#hash.digest();
        for (let i = 0; i < this.#oidBytes; i++) {
            if (actual[i] === oid[oidAt + i])
                continue;
            const hex = oidToHex(oid, oidAt, this.#oidBytes);
            const message = `object ${hex} is corrupt: its content has the id ${actual.toString('hex')}`;
            throw new errors_CheckoutError('object-corrupt', message, { oid: hex });
        }
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
/**
 * Keeps recently inflated delta bases, so that a family of deltas does not inflate its base once for each member.
 *
 * One fixed ring of memory for each thread: entries are copied in one after another and the oldest are overwritten. Nothing is
 * allocated per entry, so the cache cannot grow past its size, which is part of what a worker is planned to cost.
 */

/** Packs that can be numbered: what 53 bits leave beside offsets of 40 bits (1 TiB, see pack-file.ts). */
const MAX_PACKS = (/* unused pure expression or super */ null && (2 ** 13));
/** Pack number and offset in one number. */
function cacheKey(pack, offset) {
    return pack * 2 ** 40 + offset;
}
class DeltaBaseCache {
    /** Empty until something is put in: many readers see no delta. */
    memory = new Uint8Array(0);
    #capacity;
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
        this.#capacity = capacity;
    }
    /** Forgets all, and frees the memory. */
    close() {
        freeLarge(this.memory);
        this.memory = new Uint8Array(0);
        this.#slots.clear();
        this.#queue = [];
        this.#queueHead = 0;
        this.#next = 0;
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
        if (size === 0 || size > this.#capacity >> 3 || this.#slots.has(key))
            return;
        if (this.memory.length === 0)
            this.memory = new Uint8Array(this.#capacity);
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

;// CONCATENATED MODULE: ./build/js/engine/pack/file-pool.js
/**
 * Descriptors of packs and their indexes: each file is opened when it is first read and may be closed again for another, so
 * that a repository of thousands of packs needs a handful of open files. One pool for each thread.
 */


/** Files that a thread keeps open here. With eight threads and the shared packs the process stays below 256, the limit of macOS. */
const MOST_OPEN = 8;
/** Index files up to this many bytes in all are held whole; what is beyond is read in blocks. */
const WHOLE_BYTES = 128 << 20;
/** Closes what was only read: nothing is lost when that fails, and the run may have been right. */
function closeRead(fd) {
    try {
        (0,external_node_fs_namespaceObject.closeSync)(fd);
    }
    catch {
        // See above.
    }
}
class FilePool {
    /** How much more may be held whole; see BlockFile. */
    wholeBytesLeft = WHOLE_BYTES;
    #most;
    /** In the order of use, the latest last. */
    #open = new Map();
    #latest = null;
    #latestFd = -1;
    constructor(most = MOST_OPEN) {
        this.#most = most;
    }
    /**
     * The descriptor of a file, valid until the next call.
     * @param check looks at a file that was opened anew, by its size; may throw
     * @throws CheckoutError io
     */
    fd(file, check) {
        if (file === this.#latest)
            return this.#latestFd;
        let fd = this.#open.get(file);
        if (fd === undefined) {
            if (this.#open.size >= this.#most)
                this.#closeOldest();
            fd = this.#openFile(file);
            try {
                check?.((0,external_node_fs_namespaceObject.fstatSync)(fd).size);
            }
            catch (error) {
                closeRead(fd);
                throw errors_ioError('read', file.path, error);
            }
        }
        else {
            this.#open.delete(file);
        }
        this.#open.set(file, fd);
        this.#latest = file;
        this.#latestFd = fd;
        return fd;
    }
    /** Closes a file, if it is open. */
    close(file) {
        const fd = this.#open.get(file);
        if (fd === undefined)
            return;
        if (file === this.#latest)
            this.#latest = null;
        this.#open.delete(file);
        closeRead(fd);
    }
    /** Closes all files; they are opened again when they are read. */
    closeAll() {
        for (const file of [...this.#open.keys()])
            this.close(file);
    }
    #openFile(file) {
        for (;;) {
            try {
                return (0,external_node_fs_namespaceObject.openSync)(file.path, 'r');
            }
            catch (error) {
                const errno = errors_errnoOf(error);
                // The process has no more to give: one of ours goes.
                if ((errno === 'EMFILE' || errno === 'ENFILE') && this.#open.size > 0)
                    this.#closeOldest();
                else
                    throw errors_ioError('open', file.path, error);
            }
        }
    }
    #closeOldest() {
        for (const file of this.#open.keys()) {
            this.close(file);
            return;
        }
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/pack-file.js
/**
 * A .pack file: its bounds and, while it is kept open, its descriptor, which threads share. Plain data, so that workers can be
 * handed it.
 */


/** Signature, version, count. */
const PACK_HEADER_BYTES = 12;
const SIGNATURE = 0x5041434b; // "PACK"
/** Places are sorted, and bases are kept, by offsets of 40 bits: 1 TiB. */
const MOST_BYTES = (/* unused pure expression or super */ null && (2 ** 40));
/**
 * Opens a pack and checks it against its index: signature, version, number of objects, checksum (compared, not
 * computed: git does the same).
 * @throws CheckoutError object-corrupt, io
 */
function openPack(path, indexPath, index) {
    const { oidBytes } = index;
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
        if (size > MOST_BYTES)
            throw new CheckoutError('unsupported', 'a pack is larger than 1 TiB', { path });
        if (size < PACK_HEADER_BYTES + oidBytes)
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
        const trailer = Buffer.alloc(oidBytes);
        readSync(fd, trailer, 0, oidBytes, size - oidBytes);
        if (!trailer.equals(index.packChecksum()))
            throw corrupt('and its index disagree about its checksum');
        return { path, indexPath, fd, end: size - oidBytes, size };
    }
    catch (error) {
        closeSync(fd);
        throw ioError('read', path, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/block-file.js
/**
 * A file of tables (a pack index, a multi-pack index) that is looked into here and there. Small files are read whole when they are
 * first needed; larger ones (a full history has hundreds of megabytes) in blocks as look-ups need them, because Node cannot map
 * files and the memory budget would not hold them.
 */


/** Read whole up to this size: 16 MB hold 570,000 objects, which a shallow pack of a large repository stays below. */
const WHOLE_FILE_BYTES = 16 << 20;
/** One block of a larger file; 16 KiB hold 819 ids, so an interpolated look-up needs one or two. */
const BLOCK_BYTES = 16 << 10;
/** Blocks kept: 4 MB. */
const BLOCKS_KEPT = 256;
/** The longest piece that `locate` is asked for. */
const LONGEST_PIECE = 64;
class BlockFile {
    path;
    size;
    /** Set by `locate`: where the wanted bytes are. */
    buffer = Buffer.alloc(0);
    at = 0;
    #what;
    #pool;
    /** The file is to be held whole: its bytes were taken from the pool's allowance. */
    #isWhole;
    #whole = null;
    #blocks = new Map();
    #straddle = Buffer.alloc(LONGEST_PIECE);
    /**
     * Opens the file.
     * @param what what it is, for messages: 'pack index'
     * @throws CheckoutError io
     */
    constructor(path, what, pool) {
        this.path = path;
        this.#what = what;
        this.#pool = pool;
        const fd = pool.fd(this);
        try {
            this.size = (0,external_node_fs_namespaceObject.fstatSync)(fd).size;
        }
        catch (error) {
            throw errors_ioError('read', path, error);
        }
        this.#isWhole = this.size <= WHOLE_FILE_BYTES && this.size <= pool.wholeBytesLeft;
        if (this.#isWhole)
            pool.wholeBytesLeft -= this.size;
    }
    close() {
        this.#pool.close(this);
        this.#blocks.clear();
        if (this.#isWhole)
            this.#pool.wholeBytesLeft += this.size;
        this.#whole = null;
    }
    /** Makes `length` (at most 64) bytes at a position readable at `buffer[at]`. The caller keeps to the file's size. */
    locate(position, length) {
        if (this.#isWhole) {
            this.buffer = this.#whole ??= this.#readWhole();
            this.at = position;
            return;
        }
        const number = Math.floor(position / BLOCK_BYTES);
        const within = position - number * BLOCK_BYTES;
        if (within + length <= BLOCK_BYTES) {
            this.buffer = this.#block(number);
            this.at = within;
            return;
        }
        const head = this.#block(number).copy(this.#straddle, 0, within);
        this.#block(number + 1).copy(this.#straddle, head, 0, length - head);
        this.buffer = this.#straddle;
        this.at = 0;
    }
    /** Reads a piece past the blocks. */
    read(into, position) {
        const fd = this.#pool.fd(this);
        let done = 0;
        while (done < into.length) {
            let read;
            try {
                read = (0,external_node_fs_namespaceObject.readSync)(fd, into, done, into.length - done, position + done);
            }
            catch (error) {
                throw errors_ioError('read', this.path, error);
            }
            if (read === 0)
                throw this.corrupt('ends early');
            done += read;
        }
    }
    corrupt(how) {
        return new errors_CheckoutError('object-corrupt', `${this.#what} '${this.path}' ${how}`, { path: this.path });
    }
    #readWhole() {
        const whole = Buffer.allocUnsafeSlow(this.size);
        this.read(whole, 0);
        this.#pool.close(this);
        return whole;
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
        const length = Math.min(BLOCK_BYTES, this.size - number * BLOCK_BYTES);
        block = block?.length === length ? block : Buffer.allocUnsafeSlow(length);
        this.read(block, number * BLOCK_BYTES);
        this.#blocks.set(number, block);
        return block;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/oid-table.js
const FANOUT_BYTES = 1024;
/**
 * Reads a fan-out table: how many ids begin with a byte up to each value.
 * @throws CheckoutError object-corrupt when it is not in order
 */
function parseFanout(file, bytes, at) {
    const fanout = new Uint32Array(256);
    let previous = 0;
    for (let i = 0; i < 256; i++) {
        const value = bytes.readUInt32BE(at + 4 * i);
        if (value < previous)
            throw file.corrupt('has a fan-out table out of order');
        fanout[i] = previous = value;
    }
    return fanout;
}
class OidTable {
    count;
    #file;
    #fanout;
    #start;
    #stride;
    #oidBytes;
    /** The ids are `stride` bytes apart, the first at `start` of the file. */
    constructor(file, fanout, start, stride, oidBytes) {
        this.#oidBytes = oidBytes;
        this.count = fanout[255] ?? 0;
        this.#file = file;
        this.#fanout = fanout;
        this.#start = start;
        this.#stride = stride;
    }
    /**
     * Finds an id.
     * @param oid bytes that hold the id from `oidAt`
     * @returns its position in the table, or -1
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
                return probe;
            if (order < 0)
                low = probe + 1;
            else
                high = probe;
            probe = (low + high) >>> 1;
        }
        return -1;
    }
    /** Orders the id at a position relative to a wanted id. */
    #compareAt(position, oid, oidAt) {
        const file = this.#file;
        const oidBytes = this.#oidBytes;
        file.locate(this.#start + position * this.#stride, oidBytes);
        const { buffer, at } = file;
        for (let i = 0; i < oidBytes; i++) {
            const difference = (buffer[at + i] ?? 0) - (oid[oidAt + i] ?? 0);
            if (difference !== 0)
                return difference;
        }
        return 0;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/pack-index.js




const HEADER_V2_BYTES = 8;
const SIGNATURE_V2 = 0xff744f63;
/** A 64-bit offset: `at` of the bytes. Offsets are exact up to 2^53. */
function readLargeOffset(file, at) {
    file.locate(at, 8);
    const high = file.buffer.readUInt32BE(file.at);
    if (high >= 0x200000)
        throw file.corrupt('has an offset out of range');
    return high * 0x100000000 + file.buffer.readUInt32BE(file.at + 4);
}
class PackIndex {
    /** Objects in the pack. */
    count;
    /** Length of an id. */
    oidBytes;
    #file;
    #version;
    #oids;
    constructor(file, oidBytes) {
        this.oidBytes = oidBytes;
        this.#file = file;
        const { size } = file;
        const head = Buffer.alloc(Math.min(size, HEADER_V2_BYTES + FANOUT_BYTES));
        file.read(head, 0);
        if (size < FANOUT_BYTES + 2 * oidBytes)
            throw file.corrupt('is too small');
        this.#version = head.readUInt32BE(0) === SIGNATURE_V2 ? 2 : 1;
        if (this.#version === 2 && head.readUInt32BE(4) !== 2)
            throw file.corrupt('has an unknown version');
        const fanoutAt = this.#version === 2 ? HEADER_V2_BYTES : 0;
        if (size < fanoutAt + FANOUT_BYTES + 2 * oidBytes)
            throw file.corrupt('is too small');
        const fanout = parseFanout(file, head, fanoutAt);
        const tablesAt = fanoutAt + FANOUT_BYTES;
        this.#oids =
            this.#version === 2
                ? new OidTable(file, fanout, tablesAt, oidBytes, oidBytes)
                : new OidTable(file, fanout, tablesAt + 4, oidBytes + 4, oidBytes);
        this.count = this.#oids.count;
        const fixed = tablesAt + 2 * oidBytes;
        if (this.#version === 1) {
            if (size !== fixed + this.count * (4 + oidBytes))
                throw file.corrupt('has a wrong size');
        }
        else {
            const least = fixed + this.count * (oidBytes + 4 + 4);
            const most = least + Math.max(0, this.count - 1) * 8;
            if (size < least || size > most)
                throw file.corrupt('has a wrong size');
        }
    }
    /**
     * Opens an index file and checks its shape (not its checksum, as git). Nothing in the file names the format of its ids, but
     * a file of the one format never has a size that the other allows. The tables are read when an object is looked for.
     * @throws CheckoutError object-corrupt, io
     */
    static open(path, format, pool = new FilePool(1)) {
        const file = new BlockFile(path, 'pack index', pool);
        try {
            return new PackIndex(file, format.oidBytes);
        }
        catch (error) {
            file.close();
            throw error;
        }
    }
    close() {
        this.#file.close();
    }
    /** The pack's checksum as this index states it: the last but one hash of the file. */
    packChecksum() {
        const checksum = Buffer.alloc(this.oidBytes);
        this.#file.read(checksum, this.#file.size - 2 * this.oidBytes);
        return checksum;
    }
    /**
     * Finds an object.
     * @param oid bytes that hold the id from `oidAt`
     * @returns its offset in the pack, or -1
     * @throws CheckoutError object-corrupt, io
     */
    find(oid, oidAt) {
        const position = this.#oids.find(oid, oidAt);
        return position < 0 ? -1 : this.offsetAt(position);
    }
    /** Offset in the pack of the object at a position of the sorted table. */
    offsetAt(position) {
        const file = this.#file;
        if (this.#version === 1) {
            file.locate(FANOUT_BYTES + position * (4 + this.oidBytes), 4);
            return file.buffer.readUInt32BE(file.at);
        }
        const offsets = HEADER_V2_BYTES + FANOUT_BYTES + this.count * (this.oidBytes + 4);
        file.locate(offsets + position * 4, 4);
        const word = file.buffer.readUInt32BE(file.at);
        if (word < 0x80000000)
            return word;
        const largeAt = offsets + this.count * 4 + (word - 0x80000000) * 8;
        if (largeAt + 8 > file.size - 2 * this.oidBytes)
            throw file.corrupt('points past its table of large offsets');
        return readLargeOffset(file, largeAt);
    }
}
/** Whether a pack, or its index, cannot be used for what it is rather than for what the process has no room for. */
function isUnusable(error) {
    return error instanceof CheckoutError && error.subject.errno !== 'EMFILE' && error.subject.errno !== 'ENFILE';
}

;// CONCATENATED MODULE: ./build/js/engine/pack/pack-window.js
/**
 * A window that moves over pack files, filled by large reads, in which entries are parsed and inflated in place. Node cannot map
 * files; for packs that are read from front to back this costs the same.
 *
 * There are two of them for each thread: one goes ahead over the entries that the caller is going through, the other serves
 * what lies elsewhere, mostly delta bases. With one alone, each base far from its delta threw away what had been read ahead:
 * going from Linux 6.12 to 6.1 read 35 GB of a pack of 293 MB, with two it reads 0.9 GB.
 */




/** How much of the pack is held at once. */
const WINDOW_BYTES = 1280 << 10;
/** Read when nothing says that what follows is wanted too. */
const LONE_READ_BYTES = 32 << 10;
/** Without its buffer, which the first read makes: small checkouts need one of the two. */
function emptyRegion() {
    return { bytes: new Uint8Array(0), pack: -1, start: 0, end: 0 };
}
class PackWindow {
    /** Offsets in between are wanted soon, so that reading goes ahead to the end; outside of them it does not. */
    readAheadStart = 0;
    readAheadEnd = 0;
    #ahead = emptyRegion();
    #elsewhere = emptyRegion();
    /** The one that `ensure` or `advance` found or filled last. */
    #current = this.#ahead;
    #packs;
    #pool;
    /** @param packs may become longer while the window is in use */
    constructor(packs, pool = new FilePool()) {
        this.#packs = packs;
        this.#pool = pool;
    }
    /** Frees the buffers; they are made again when they are needed. */
    close() {
        for (const region of [this.#ahead, this.#elsewhere]) {
            freeLarge(region.bytes);
            Object.assign(region, emptyRegion());
        }
    }
    get bytes() {
        return this.#current.bytes;
    }
    /** `bytes` holds [start, end) of its pack. The first byte of the checksum may be in it, see PackReader. */
    get start() {
        return this.#current.start;
    }
    get end() {
        return this.#current.end;
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
        if (this.#has(pack, offset, length))
            return;
        const ahead = offset >= this.readAheadStart && offset < this.readAheadEnd;
        this.#select(ahead);
        const wanted = Math.max(length, LONE_READ_BYTES, ahead ? this.readAheadEnd - offset : 0);
        this.#fill(pack, offset, Math.min(wanted, WINDOW_BYTES));
    }
    /**
     * Goes on in a long entry: makes the byte at an offset be in the window, with as much behind it as fits. At the end of the
     * entries that is the first byte of the checksum, see PackReader.
     * @returns false past that
     */
    advance(pack, offset) {
        if (this.#has(pack, offset, 1))
            return true;
        if (offset > this.packEnd(pack))
            return false;
        this.#select(offset >= this.readAheadStart && offset < this.readAheadEnd);
        this.#fill(pack, offset, WINDOW_BYTES);
        return true;
    }
    /** Whether one of the two has this range; it is the current one then. */
    #has(pack, offset, length) {
        if (holds(this.#current, pack, offset, length))
            return true;
        const other = this.#current === this.#ahead ? this.#elsewhere : this.#ahead;
        if (!holds(other, pack, offset, length))
            return false;
        this.#current = other;
        return true;
    }
    #select(ahead) {
        this.#current = ahead ? this.#ahead : this.#elsewhere;
    }
    /** Reads from a pack past the window. */
    read(pack, into, length, offset) {
        const file = this.file(pack);
        const fd = file.fd >= 0 ? file.fd : this.#open(file);
        let done = 0;
        while (done < length) {
            let read;
            try {
                read = (0,external_node_fs_namespaceObject.readSync)(fd, into, done, Math.min(length - done, MOST_AT_ONCE), offset + done);
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
    /** A pack that is opened again must be the one that was found. */
    #open(file) {
        try {
            return this.#pool.fd(file, (size) => {
                if (size === file.size)
                    return;
                throw new errors_CheckoutError('object-corrupt', `pack '${file.path}' has changed`, { path: file.path });
            });
        }
        catch (error) {
            if (errors_errnoOf(error.cause) !== 'ENOENT')
                throw error;
            // A concurrent repack may have removed it.
            throw new errors_CheckoutError('object-missing', `pack '${file.path}' has gone`, { path: file.path }, error);
        }
    }
    #fill(pack, offset, length) {
        const count = Math.min(length, this.packEnd(pack) + 1 - offset);
        const region = this.#current;
        region.pack = -1;
        if (region.bytes.length === 0)
            region.bytes = new Uint8Array(WINDOW_BYTES);
        this.read(pack, region.bytes, count, offset);
        region.pack = pack;
        region.start = offset;
        region.end = offset + count;
    }
}
function holds(region, pack, offset, length) {
    return pack === region.pack && offset >= region.start && offset + length <= region.end;
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
/** A longer chain of deltas than this is a ring, where no index tells how many objects there are. git makes 4,095 at most. */
const MOST_CHAIN = 100_000;
/** Indexes kept open for deltas whose base is named by id: few packs have such. */
const INDEXES_KEPT = 8;
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
    #pool;
    #inflater;
    #cache;
    #header;
    #format;
    #sizes = new DeltaSizes();
    #indexes = new Map();
    #findBase;
    /** Holds the last small object that was stored as it is. */
    #plain = null;
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
    /** @param packs by number; may become longer while the reader is in use */
    constructor(packs, format, options = {}) {
        this.#findBase = options.findBase;
        this.#header = new EntryHeader(format.oidBytes);
        this.#format = format;
        this.#pool = options.pool ?? new FilePool();
        this.#window = new PackWindow(packs, this.#pool);
        this.#inflater = options.inflater ?? new Inflater();
        this.#cache = new DeltaBaseCache(options.baseCacheBytes ?? BASE_CACHE_BYTES);
    }
    close() {
        this.finish();
        this.dropRetained();
        this.#inflater.close();
        // At once, not when the garbage is collected: another reader may take as much next.
        for (const bytes of [this.#plain, this.#deltaScratch, ...this.#resultScratch, this.#piece]) {
            if (bytes !== null)
                freeLarge(bytes);
        }
        this.#plain = this.#deltaScratch = this.#piece = null;
        this.#plainKey = -1;
        this.#resultScratch.fill(null);
        this.#cache.close();
        this.#window.close();
        for (const index of this.#indexes.values())
            index.close();
        this.#indexes.clear();
        this.#pool.closeAll();
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
        this.#window.readAheadStart = offset;
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
    /**
     * Reads the opened object, which must be plain, into memory that stays until `dropRetained`: deltas on it will come.
     * @returns its bytes
     */
    readRetained() {
        return this.#retain().subarray(0, this.#baseSize);
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
            const index = this.#findBase === undefined ? this.#index(pack) : null;
            base = index?.find(this.#window.bytes, oidAt) ?? this.#findBase?.(this.#window.bytes, oidAt) ?? -1;
            if (base < 0) {
                const hex = oidToHex(this.#window.bytes, oidAt, this.#format.oidBytes);
                throw this.#corrupt(pack, at, `has a delta base that is not in its pack (${hex})`);
            }
            // A base by id may lie anywhere, so such deltas could form a ring.
            if (this.#chainLength > (index?.count ?? MOST_CHAIN))
                throw this.#corrupt(pack, at, 'is its own delta base');
        }
        if (base < PACK_HEADER_BYTES || base >= this.#window.packEnd(pack))
            throw this.#corrupt(pack, at, 'has a delta base outside of the pack');
        return base;
    }
    #index(pack) {
        let index = this.#indexes.get(pack);
        if (index === undefined) {
            for (const [oldest, opened] of this.#indexes) {
                if (this.#indexes.size < INDEXES_KEPT)
                    break;
                opened.close();
                this.#indexes.delete(oldest);
            }
            index = PackIndex.open(this.#window.file(pack).indexPath, this.#format, this.#pool);
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
                return (this.#plain ??= pack_reader_scratch());
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
        const plain = (this.#plain ??= pack_reader_scratch());
        this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, plain, size);
        this.#plainKey = key;
        this.#plainType = this.type;
        this.#plainSize = size;
        if (this.#chainLength > 0)
            this.#cache.put(key, this.type, plain, size);
        return plain;
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
            large = allocateLarge(bytes);
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
    #oidBytes;
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
    constructor(format, inflater = new Inflater()) {
        this.#oidBytes = format.oidBytes;
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
        this.#path = loosePath(objectDirectory, oidToHex(oid, oidAt, this.#oidBytes));
        try {
            this.#fd = (0,external_node_fs_namespaceObject.openSync)(this.#path, 'r');
        }
        catch (error) {
            const errno = errors_errnoOf(error);
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
    /** Set when a loose object is opened: the directory where it was found; behind the last one when it was not. */
    looseDirectory = 0;
    #packs;
    #directories;
    #format;
    #useHandle;
    #loose = null;
    #current;
    /**
     * @param packs by number; may become longer while the reader is in use
     * @param useHandle false inflates the documented way, see Inflater (for tests)
     */
    constructor(packs, objectDirectories, format, useHandle = true, pool) {
        this.#format = format;
        this.#packs = new PackReader(packs, format, {
            inflater: new Inflater(useHandle),
            ...(pool === undefined ? {} : { pool }),
        });
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
     * @param offset in the pack; of a loose object, the number of the first directory to look in
     * @param oid its id, needed for loose objects and messages
     * @throws CheckoutError object-missing, object-corrupt, io; the error names the object
     */
    open(pack, offset, oid, oidAt) {
        if (pack === LOOSE) {
            if (!this.openLoose(oid, oidAt, offset)) {
                const hex = oidToHex(oid, oidAt, this.#format.oidBytes);
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
    /** Opens a loose object, looking in one directory after another; false when there is none. */
    openLoose(oid, oidAt, first = 0) {
        this.#loose ??= new LooseReader(this.#format, new Inflater(this.#useHandle));
        const directories = this.#directories;
        for (this.looseDirectory = first; this.looseDirectory < directories.length; this.looseDirectory++) {
            if (!this.#loose.open(directories[this.looseDirectory] ?? '', oid, oidAt))
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

;// CONCATENATED MODULE: ./build/js/engine/odb/replacements.js


/** git gives up at the fifth replacement in a row. */
const MOST_IN_A_ROW = 4;
const NO_REPLACEMENTS = { oidBytes: 0, count: 0, from: new Uint8Array(0), to: new Uint8Array(0) };
/**
 * Makes the table. A chain is followed to its end.
 * @param pairs hexadecimal ids: object, replacement
 */
function makeReplacements(pairs, oidBytes) {
    if (pairs.size === 0)
        return NO_REPLACEMENTS;
    const sorted = [...pairs.keys()].sort();
    const from = new Uint8Array(sorted.length * oidBytes);
    const to = new Uint8Array(sorted.length * oidBytes);
    sorted.forEach((hex, i) => {
        from.set(oidFromHex(hex), i * oidBytes);
        let end = hex;
        // One that leads on too long is left on itself: whoever reads it is told, and nobody else.
        for (let depth = 0;; depth++) {
            const next = pairs.get(end);
            if (next === undefined)
                break;
            if (depth === MOST_IN_A_ROW) {
                end = '0'.repeat(hex.length);
                break;
            }
            end = next;
        }
        to.set(oidFromHex(end), i * oidBytes);
    });
    return { oidBytes, count: sorted.length, from, to };
}
/**
 * Finds the replacement of an object.
 * @returns where its id begins in `to`, or -1 when the object is not replaced
 * @throws CheckoutError object-corrupt when replacements lead on too long
 */
function findReplacement({ oidBytes, count, from, to }, oid, oidAt) {
    let low = 0;
    let high = count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        let order = 0;
        for (let i = 0; i < oidBytes && order === 0; i++)
            order = (from[middle * oidBytes + i] ?? 0) - (oid[oidAt + i] ?? 0);
        if (order === 0) {
            const at = middle * oidBytes;
            if (to.subarray(at, at + oidBytes).every((byte) => byte === 0)) {
                const hex = oidToHex(oid, oidAt, oidBytes);
                throw new errors_CheckoutError('object-corrupt', `the replacements of object ${hex} lead on too long`, { oid: hex });
            }
            return at;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
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
    const comparison = FileComparison.open(path);
    if (comparison === null)
        return false;
    try {
        if (typeof content === 'function')
            content((piece) => comparison.push(piece));
        else if (comparison.size === content.length)
            comparison.push(content);
        return comparison.isSame();
    }
    finally {
        comparison.close();
    }
}
/**
 * Whether there is a file at `path` of this size whose content has this hash (hexadecimal). What cannot be opened has not.
 * @param before hashed before the content
 */
function fileHasHash(path, size, algorithm, hex, before = '') {
    let fd;
    try {
        fd = (0,external_node_fs_namespaceObject.openSync)(path, READ);
    }
    catch (error) {
        if (errors_errnoOf(error) !== undefined)
            return false;
        throw error;
    }
    try {
        const stat = (0,external_node_fs_namespaceObject.fstatSync)(fd);
        if (!stat.isFile() || stat.size !== size)
            return false;
        const hash = (0,external_node_crypto_namespaceObject.createHash)(algorithm).update(before);
        const piece = Buffer.allocUnsafe(compare_file_PIECE_BYTES);
        for (let got = (0,external_node_fs_namespaceObject.readSync)(fd, piece, 0, compare_file_PIECE_BYTES, null); got > 0; got = (0,external_node_fs_namespaceObject.readSync)(fd, piece, 0, compare_file_PIECE_BYTES, null)) {
            hash.update(piece.subarray(0, got));
        }
        return hash.digest('hex') === hex;
    }
    finally {
        (0,external_node_fs_namespaceObject.closeSync)(fd);
    }
}
/** A file that is held against content that comes in pieces. To be closed. */
class FileComparison {
    size;
    #fd;
    #read = Buffer.allocUnsafe(compare_file_PIECE_BYTES);
    #position = 0;
    #same = true;
    constructor(fd, size) {
        this.#fd = fd;
        this.size = size;
    }
    /** Opens the file; null when there is none that can be opened. */
    static open(path) {
        let fd;
        try {
            fd = (0,external_node_fs_namespaceObject.openSync)(path, READ);
        }
        catch (error) {
            if (errors_errnoOf(error) !== undefined)
                return null;
            throw error;
        }
        try {
            const stat = (0,external_node_fs_namespaceObject.fstatSync)(fd);
            // A directory opens, too: it cannot be read, and an empty one may be as large as an empty file.
            if (stat.isFile())
                return new FileComparison(fd, stat.size);
        }
        catch (error) {
            (0,external_node_fs_namespaceObject.closeSync)(fd);
            throw error;
        }
        (0,external_node_fs_namespaceObject.closeSync)(fd);
        return null;
    }
    /** Takes the next piece of the content. */
    push(piece) {
        for (let at = 0; this.#same && at < piece.length;) {
            const want = Math.min(compare_file_PIECE_BYTES, piece.length - at);
            const got = (0,external_node_fs_namespaceObject.readSync)(this.#fd, this.#read, 0, want, this.#position);
            if (got === 0 || !bufferOver(piece, at, at + got).equals(this.#read.subarray(0, got)))
                this.#same = false;
            at += got;
            this.#position += got;
        }
    }
    /** Whether the file has what was pushed, and nothing more. */
    isSame() {
        return this.#same && this.#position === this.size;
    }
    close() {
        (0,external_node_fs_namespaceObject.closeSync)(this.#fd);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/create-file.js
/**
 * Creates one file of the working tree. Always a new file: exclusive create means that nothing is followed, truncated or
 * shared, and that what is there is found out rather than overwritten. A file or link that is to be replaced is removed by
 * its name; a directory never is.
 */



const CREATE = external_node_fs_namespaceObject.constants.O_WRONLY | external_node_fs_namespaceObject.constants.O_CREAT | external_node_fs_namespaceObject.constants.O_EXCL;
function writeFully(fd, piece) {
    const { length } = piece;
    for (let at = 0; at < length;)
        at += (0,external_node_fs_namespaceObject.writeSync)(fd, piece, at, Math.min(length - at, MOST_AT_ONCE));
}
/** Removes a file or link; what cannot be removed will be in the way. Linux and Windows refuse to unlink a directory. */
function unlinkIfPossible(path) {
    try {
        (0,external_node_fs_namespaceObject.unlinkSync)(path);
        return true;
    }
    catch (error) {
        if (errors_errnoOf(error) === undefined)
            throw error;
        return false;
    }
}
/**
 * Creates something at a path where a file or link may be that is to go.
 * @param create null when something is at the path
 */
function replacing(path, existing, create) {
    if (existing === 'is-likely')
        unlinkIfPossible(path);
    const made = create();
    if (made !== null || existing !== 'goes' || !unlinkIfPossible(path))
        return made;
    return create();
}
/** Opens a new file; null when something is at the path. */
function openNew(path, mode) {
    try {
        return (0,external_node_fs_namespaceObject.openSync)(path, CREATE, mode);
    }
    catch (error) {
        const errno = errors_errnoOf(error);
        if (errno === 'EEXIST' || errno === 'EISDIR')
            return null;
        throw error;
    }
}
/**
 * Creates the file with the content.
 * @param path absolute
 * @param content bytes, or a producer of pieces
 * @returns the file's stat data, or null when something is at the path that stays
 * @throws the system's error, or what the producer throws; the half-written file is gone then
 */
function createFile(path, executable, content, existing = 'stays') {
    const mode = executable ? 0o777 : 0o666;
    const fd = replacing(path, existing, () => openNew(path, mode));
    if (fd === null)
        return null;
    let complete = false;
    try {
        let stat;
        try {
            if (typeof content === 'function')
                content((piece) => writeFully(fd, piece));
            else
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

;// CONCATENATED MODULE: ./build/js/engine/worktree/copy-file.js
/**
 * Creates one file of the working tree as the copy of another file, such as an object of the LFS store. Exclusively, as
 * create-file.ts does; sharing the blocks where the file system can.
 */



const { O_NONBLOCK = 0 } = external_node_fs_namespaceObject.constants;
/** A pipe in the place of a file must not hold the thread. */
const copy_file_READ = external_node_fs_namespaceObject.constants.O_RDONLY | O_NONBLOCK;
const copy_file_CREATE = external_node_fs_namespaceObject.constants.O_WRONLY | external_node_fs_namespaceObject.constants.O_CREAT | external_node_fs_namespaceObject.constants.O_EXCL;
/** Bytes read at a time. */
const copy_file_PIECE_BYTES = 1 << 20;
/** The source is not there, or not of the size that it should be. */
class NoSource extends Error {
}
let piece = null;
/**
 * Copies.
 * @param source path of a regular file
 * @param path absolute
 * @returns the new file's stat data, or null when something is at the path already
 * @throws NoSource when nothing can be copied, and nothing was made; the system's error, the half-written file gone
 */
function createCopy(source, path, options) {
    if (options.size < copy_file_PIECE_BYTES && !options.shareBlocks) {
        return createFile(path, options.executable, readSmall(source, options.size));
    }
    const from = openSource(source, options.size);
    try {
        if (options.shareBlocks)
            return shareBlocks(source, path, options);
        return createFile(path, options.executable, (write) => {
            pipe(from, options.size, write);
        });
    }
    finally {
        (0,external_node_fs_namespaceObject.closeSync)(from);
    }
}
/**
 * The content of a source, piece by piece.
 * @throws NoSource from the producer
 */
function contentOf(source, size) {
    return (write) => {
        const from = openSource(source, size);
        try {
            pipe(from, size, write);
        }
        finally {
            (0,external_node_fs_namespaceObject.closeSync)(from);
        }
    };
}
/** Reads a file of this size, valid until the next one. One byte more is asked for, which tells its size without asking for that. */
function readSmall(source, size) {
    piece ??= Buffer.allocUnsafeSlow(copy_file_PIECE_BYTES);
    const from = openOrNoSource(source);
    let length = 0;
    try {
        for (let got = -1; got !== 0 && length <= size; length += got) {
            got = (0,external_node_fs_namespaceObject.readSync)(from, piece, length, size + 1 - length, null);
            // What is cut off does not go on; whole files take one call.
            if (length + got === size)
                return piece.subarray(0, size);
        }
    }
    catch (error) {
        // A directory, or a pipe that nobody writes to.
        if (errors_errnoOf(error) === 'EISDIR' || errors_errnoOf(error) === 'EAGAIN')
            throw new NoSource();
        throw error;
    }
    finally {
        (0,external_node_fs_namespaceObject.closeSync)(from);
    }
    throw new NoSource();
}
function openOrNoSource(source) {
    try {
        return (0,external_node_fs_namespaceObject.openSync)(source, copy_file_READ);
    }
    catch (error) {
        if (errors_errnoOf(error) === 'ENOENT' || errors_errnoOf(error) === 'ENOTDIR')
            throw new NoSource();
        throw error;
    }
}
/** Opens a regular file of this size. */
function openSource(source, size) {
    const from = openOrNoSource(source);
    let right = false;
    try {
        const stat = (0,external_node_fs_namespaceObject.fstatSync)(from);
        right = stat.isFile() && stat.size === size;
    }
    finally {
        if (!right)
            (0,external_node_fs_namespaceObject.closeSync)(from);
    }
    if (!right)
        throw new NoSource();
    return from;
}
function pipe(from, size, write) {
    piece ??= Buffer.allocUnsafeSlow(copy_file_PIECE_BYTES);
    let left = size;
    while (left > 0) {
        const got = (0,external_node_fs_namespaceObject.readSync)(from, piece, 0, Math.min(left, copy_file_PIECE_BYTES), null);
        if (got === 0)
            throw new NoSource();
        write(piece.subarray(0, got));
        left -= got;
    }
}
/**
 * The system copies, by reference where it can. Into a file that is ours already: it is named by its descriptor, so that nothing that
 * somebody puts at its path is written to. The copy has the source's permissions until they are put right.
 */
function shareBlocks(source, path, { executable, size }) {
    let fd;
    try {
        fd = (0,external_node_fs_namespaceObject.openSync)(path, copy_file_CREATE, executable ? 0o777 : 0o666);
    }
    catch (error) {
        const errno = errors_errnoOf(error);
        if (errno === 'EEXIST' || errno === 'EISDIR')
            return null;
        throw error;
    }
    let complete = false;
    try {
        try {
            const { mode } = (0,external_node_fs_namespaceObject.fstatSync)(fd);
            (0,external_node_fs_namespaceObject.copyFileSync)(source, `/proc/self/fd/${fd}`, external_node_fs_namespaceObject.constants.COPYFILE_FICLONE);
            (0,external_node_fs_namespaceObject.fchmodSync)(fd, mode & 0o7777);
            const stat = (0,external_node_fs_namespaceObject.fstatSync)(fd, { bigint: true });
            if (Number(stat.size) !== size)
                throw new NoSource();
            complete = true;
            return stat;
        }
        finally {
            (0,external_node_fs_namespaceObject.closeSync)(fd);
        }
    }
    finally {
        if (!complete)
            (0,external_node_fs_namespaceObject.unlinkSync)(path);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/real-directories.js
/**
 * Whether what leads to a path is directories all the way down, looked at in the moment in which something is written or removed
 * there: a link put in place of a directory must not be followed out of the working tree. As git does, the answer is
 * remembered for as long as the caller stays in one directory, and for what two directories have in common.
 */


const real_directories_SLASH = 0x2f;
class RealDirectories {
    /** Why the last look that said 'unknown' failed. */
    lastErrno = '';
    #paths;
    /** The directory that was found to be real last, with its slash; its parents are real, too. */
    #known = new Uint8Array(256);
    #knownLength = 0;
    /** @param paths its buffer is used by every look */
    constructor(paths) {
        this.#paths = paths;
    }
    /** Whether each directory that leads to path[start, end) is one and no link. */
    leadTo(path, start, end) {
        return this.look(path, start, end) === 'real';
    }
    /** What leads to path[start, end). One system call for each directory that the last path did not have as well. */
    look(path, start, end) {
        let directoryEnd = end;
        while (directoryEnd > start && path[directoryEnd - 1] !== real_directories_SLASH)
            directoryEnd--;
        const length = directoryEnd - start;
        const known = this.#known;
        // Position behind the last slash up to which both agree.
        let common = 0;
        const least = length < this.#knownLength ? length : this.#knownLength;
        for (let i = 0; i < least && known[i] === path[start + i]; i++)
            if (known[i] === real_directories_SLASH)
                common = i + 1;
        if (common === length)
            return 'real';
        this.#knownLength = common;
        for (let i = common; i < length; i++) {
            if (path[start + i] !== real_directories_SLASH)
                continue;
            const found = this.#lookAt(path, start, start + i);
            if (found !== 'real')
                return found;
            this.#remember(path, start, i + 1);
        }
        return 'real';
    }
    #lookAt(path, start, end) {
        try {
            const stat = (0,external_node_fs_namespaceObject.lstatSync)(this.#paths.absolute(path, start, end), { throwIfNoEntry: false });
            if (stat === undefined)
                return 'missing';
            return stat.isDirectory() ? 'real' : 'other';
        }
        catch (error) {
            const errno = errors_errnoOf(error);
            if (errno === undefined)
                throw error;
            if (errno === 'ENOTDIR')
                return 'other';
            this.lastErrno = errno;
            return 'unknown';
        }
    }
    #remember(path, start, length) {
        if (length > this.#known.length) {
            const grown = new Uint8Array(2 * length);
            grown.set(this.#known.subarray(0, this.#knownLength));
            this.#known = grown;
        }
        for (let i = this.#knownLength; i < length; i++)
            this.#known[i] = path[start + i] ?? 0;
        this.#knownLength = length;
    }
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
    /** Bytes of the whole budget. */
    get limitBytes() {
        return Atomics.load(this.#words, TOTAL) * UNIT;
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
/** Next file to be claimed for removal (removals.ts). */
const NEXT_REMOVAL = 4;
const CONTROL_WORDS = 5;
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/entry-writer.js






















/** Room for a converted small file: every byte a line feed is the worst that end-of-line conversion makes of one. */
const CONVERTED_BYTES = 2 * SCRATCH_BYTES;
/** For conversions that show no id. */
const NO_OID = new Uint8Array(0);
/** A link that is written as a file (core.symlinks is off) holds its target and nothing else. */
const AS_IT_IS = { kind: 'none', crlf: 'none', ident: false };
/** Why a run was stopped in the middle of an entry; the entry stays as it was. */
class Stopped extends Error {
}
class EntryWriter {
    /** Time spent waiting, for the report. */
    waitMs = 0;
    /** Why the last UNREAD or UNREAD_VERIFY entry could not be read. */
    unread = null;
    #counters;
    #job;
    #reader;
    #packs;
    #paths;
    #directories;
    #budget;
    #oidBytes;
    #onFailure;
    #onLarge;
    #onUnencoded;
    #converted = null;
    /** Units of the budget that the reader's retained base holds. */
    #retained = 0;
    /** The entry being written. */
    #current = 0;
    /** Id of the object that is read for it: the entry's, or that of what replaces it. */
    #oid;
    #oidAt = 0;
    /** Whether a failure is one of reading the object. */
    #reading = false;
    /**
     * @param thread number of the thread: its row of counters
     * @param onFailure told of each entry that could not be written
     * @param onLarge called while a large object is held, to look at the memory that it takes
     * @param onUnencoded told of each entry whose text cannot be written in its encoding, and stays UTF-8
     */
    constructor(job, thread, onFailure, onLarge, onUnencoded = () => undefined) {
        this.#job = job;
        this.#counters = job.counters.subarray(COUNTERS * thread, COUNTERS * (thread + 1));
        this.#packs = [...job.packs];
        this.#reader = new ObjectReader(this.#packs, job.objectDirectories, job.tables.format);
        this.#oidBytes = job.tables.format.oidBytes;
        this.#oid = job.tables.oids;
        this.#paths = new WorktreePaths(job.workTree);
        this.#directories = new RealDirectories(this.#paths);
        this.#budget = new Budget(job.budget, thread);
        this.#onFailure = onFailure;
        this.#onLarge = onLarge;
        this.#onUnencoded = onUnencoded;
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
    /** Adds the packs that were found since. */
    usePacks(packs) {
        this.#packs.push(...packs.slice(this.#packs.length));
    }
    /** See PackReader. */
    readAhead(end) {
        this.#reader.readAhead(end);
    }
    /**
     * Brings an entry for workers into its next state and stores that. What cannot be read where it was found is UNREAD then.
     * Failures are told, not thrown; what is thrown is a bug.
     * @param deferred where to note an entry for a later pass, whose state then stays; null to write everything now
     */
    write(entry, deferred) {
        const { tables } = this.#job;
        const before = tables.states[entry] ?? tables_State.PENDING;
        try {
            const state = this.#write(entry, before, deferred);
            tables.states[entry] = state;
        }
        catch (error) {
            if (error instanceof Stopped)
                return;
            if (this.#reading && error instanceof errors_CheckoutError && error.code !== 'memory') {
                // The object may have moved, or have another copy; that is for the main thread to find out.
                this.#noteUnread(entry);
                this.unread = this.#describe(entry, error);
                tables.states[entry] = before === tables_State.VERIFY ? tables_State.UNREAD_VERIFY : tables_State.UNREAD;
                return;
            }
            this.fail(entry, error);
        }
    }
    /**
     * Writes an entry whose blob's content is at hand. Where that would take more memory than the converted buffer, or fails, the
     * state stays as it is, and the entry is for somebody else.
     */
    writeContent(entry, content) {
        const { tables, conversions } = this.#job;
        const conversion = conversions[tables.conversions[entry] ?? 0];
        if (conversion === undefined || (conversion.kind !== 'none' && content.length > SCRATCH_BYTES))
            return;
        this.#current = entry;
        this.#oid = tables.oids;
        this.#oidAt = entry * this.#oidBytes;
        try {
            this.#put(entry, tables_State.PENDING, this.#convert(conversion, content));
        }
        catch (error) {
            // A bug goes on; all else will be met again by whoever writes the entry, and told.
            this.#describe(entry, error);
        }
    }
    /**
     * Reads an entry's blob and converts it up to where its filter driver takes over. For the main thread: it does not wait.
     * @returns the content in memory of its own, to be given back by `release`; null while other threads hold the memory that
     * it takes
     * @throws CheckoutError when the blob cannot be read; `isUnread` then tells whether it may be elsewhere
     */
    readForFilter(entry) {
        this.dropRetained();
        const conversion = this.#open(entry);
        const reader = this.#reader;
        this.#reading = true;
        const small = reader.readSmall();
        if (small !== null) {
            this.#check(small);
            this.#reading = false;
            return { content: Buffer.from(this.#convert(conversion, small)), release: () => undefined };
        }
        reader.measure();
        this.#reading = false;
        // The content as it is read, and a copy, which may be converted.
        const wanted = reader.readBytes + reader.size + convertedBound(conversion, reader.size);
        const reserved = this.#budget.tryReserve(Math.min(wanted, this.#budget.limitBytes));
        if (reserved === 0)
            return null;
        let held = false;
        try {
            const content = Buffer.from(this.#convert(conversion, this.#read()));
            this.#onLarge();
            held = true;
            return { content, release: () => this.#budget.release(reserved) };
        }
        finally {
            reader.finish();
            reader.dropRetained();
            if (!held)
                this.#budget.release(reserved);
        }
    }
    /** After `readForFilter` has thrown: whether the blob could not be read where it was found. */
    isUnread(entry, error) {
        if (!this.#reading || !(error instanceof errors_CheckoutError) || error.code === 'memory')
            return false;
        this.#noteUnread(entry);
        return true;
    }
    /** Notes where a loose object was looked for in vain. */
    #noteUnread(entry) {
        const { tables } = this.#job;
        if (tables.packs[entry] === LOOSE)
            tables.offsets[entry] = this.#reader.looseDirectory;
    }
    /** Notes that an entry's file was written. */
    record(entry, stat) {
        const { tables, platform } = this.#job;
        statToWords(stat, platform, tables.stats, entry * tables_STAT_WORDS, tables.modes[entry] ?? 0);
        this.#counters[FILES_DONE] = this.files + 1;
        this.#counters[BYTES_DONE] = this.bytesWritten + Number(stat.size);
        tables.states[entry] = tables_State.WRITTEN;
    }
    /**
     * Notes that an entry could not be written.
     * @throws the error if it is a bug; the entry stays open then
     */
    fail(entry, error) {
        const failure = this.#describe(entry, error);
        this.#job.tables.states[entry] = tables_State.FAILED;
        this.#onFailure(entry, failure.toJSON());
    }
    /** Opens an entry's blob. */
    #open(entry) {
        const { tables, conversions } = this.#job;
        const reader = this.#reader;
        this.#current = entry;
        this.#reading = false;
        this.#meanObject(entry);
        this.#reading = true;
        this.#openObject(entry);
        this.#reading = false;
        if (reader.type !== BLOB) {
            const hex = oidToHex(this.#oid, this.#oidAt, this.#oidBytes);
            throw new errors_CheckoutError('object-corrupt', `object ${hex} is a ${typeName(reader.type)}, not a blob`, {
                oid: hex,
            });
        }
        const conversion = tables.modes[entry] === MODE_SYMLINK ? AS_IT_IS : conversions[tables.conversions[entry] ?? 0];
        if (conversion === undefined)
            throw new Error(`no conversion ${tables.conversions[entry] ?? 0}`);
        return conversion;
    }
    #write(entry, before, deferred) {
        const conversion = this.#open(entry);
        const reader = this.#reader;
        this.#reading = true;
        const small = reader.readSmall();
        if (small !== null)
            this.#check(small);
        this.#reading = false;
        if (conversion.kind === 'filter')
            return this.#writeLfs(entry, before, conversion, small);
        if (small !== null)
            return this.#put(entry, before, this.#convert(conversion, small));
        if (deferred !== null && reader.missesLargeBase) {
            const at = Atomics.add(this.#job.control, DEFERRED, 1);
            deferred.entries[at] = entry;
            deferred.bases[at] = reader.baseKey;
            deferred.baseSizes[at] = reader.baseSize;
            return before;
        }
        return this.#writeLarge(entry, before, conversion);
    }
    /**
     * A file of Git LFS: the pointer's object from the local store, or the pointer itself where git-lfs would leave it. All else
     * is for the driver.
     */
    #writeLfs(entry, before, conversion, blob) {
        const { lfs } = this.#job;
        const verify = before === tables_State.VERIFY;
        const forDriver = verify ? tables_State.FILTER_VERIFY : tables_State.FILTER;
        // No pointer is so large. One that is made of a large base does not occur.
        if (lfs === null || blob === null)
            return forDriver;
        const content = this.#convert(conversion, blob);
        // An empty file stands for itself.
        if (content.length === 0)
            return this.#put(entry, before, content);
        const size = lfsPointerSize(content);
        if (size < 0)
            return forDriver;
        const oid = lfsPointerOid(content);
        const source = lfsObjectPath(lfs.store, oid);
        const { tables } = this.#job;
        const skips = lfs.store.skip || conversion.driver?.lfs?.skip === true;
        if (!verify && !skips && !this.#mayWrite(entry))
            return tables_State.COLLIDED;
        const path = this.#paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        if (skips) {
            // The content of an earlier checkout is no change to git either, whose clean filter makes the pointer of it.
            if (verify && fileHasHash(path, size, 'sha256', oid))
                return tables_State.KEPT;
            return this.#put(entry, before, content);
        }
        try {
            if (verify)
                return fileHasContent(path, contentOf(source, size)) ? tables_State.KEPT : tables_State.COLLIDED;
            const executable = tables.modes[entry] === MODE_EXECUTABLE;
            const { shareBlocks } = lfs;
            const copy = () => createCopy(source, path, { executable, size, shareBlocks });
            const stat = replacing(path, this.#existing(before), copy);
            if (stat === null)
                return tables_State.COLLIDED;
            this.record(entry, stat);
            return tables_State.WRITTEN;
        }
        catch (error) {
            if (error instanceof NoSource)
                return forDriver;
            throw error;
        }
    }
    /** Finds out which object is to be read for an entry. */
    #meanObject(entry) {
        const { tables, replacements } = this.#job;
        const oidAt = entry * this.#oidBytes;
        const replaced = replacements.count === 0 ? -1 : findReplacement(replacements, tables.oids, oidAt);
        this.#oid = replaced < 0 ? tables.oids : replacements.to;
        this.#oidAt = replaced < 0 ? oidAt : replaced;
    }
    #openObject(entry) {
        const { tables } = this.#job;
        this.#reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, this.#oid, this.#oidAt);
    }
    /** Holds a whole object against its id, if that was asked for. */
    #check(content) {
        const { tables, verify } = this.#job;
        if (verify)
            new ObjectChecksum(tables.format, BLOB, content.length).update(content).check(this.#oid, this.#oidAt);
    }
    /** Reads the opened object whole. */
    #read() {
        this.#reading = true;
        const content = this.#reader.read();
        this.#check(content);
        this.#reading = false;
        return content;
    }
    /** Lets the opened object pass by in pieces. What `sink` throws is no failure of reading. */
    #stream(sink) {
        const { tables, verify } = this.#job;
        const checksum = verify ? new ObjectChecksum(tables.format, BLOB, this.#reader.size) : null;
        this.#reading = true;
        this.#reader.stream((piece) => {
            this.#reading = false;
            checksum?.update(piece);
            sink(piece);
            this.#reading = true;
        });
        checksum?.check(this.#oid, this.#oidAt);
        this.#reading = false;
    }
    /** An object that is larger than the scratch buffers, or is made of such. */
    #writeLarge(entry, before, conversion) {
        const reader = this.#reader;
        if (!reader.usesRetained)
            this.dropRetained();
        this.#reading = true;
        reader.measure();
        this.#reading = false;
        const streams = conversion.kind === 'stream' || conversion.kind === 'none';
        const converted = convertedBound(conversion, reader.size);
        const reserved = this.#reserve(() => (streams ? reader.streamBytes : reader.readBytes + converted));
        if (reserved < 0)
            throw new Stopped();
        let kept = 0;
        try {
            const content = streams ? this.#streamed(conversion, entry) : this.#convert(conversion, this.#read());
            return this.#put(entry, before, content);
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
                this.dropRetained();
                this.#reading = true;
                this.#openObject(this.#current);
                this.#reader.measure();
                this.#reading = false;
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
    #convert(conversion, content) {
        const converted = this.#convertText(conversion, content);
        if (conversion.encoding === undefined || converted.length === 0)
            return converted;
        const encoded = encode(conversion.encoding, converted, converted.length);
        // As with git it is no failure: the file is there, though not as it should be.
        if (encoded === null)
            this.#onUnencoded(this.#current);
        return encoded ?? converted;
    }
    #convertText(conversion, content) {
        if (conversion.kind === 'none')
            return content;
        // What most files of a repository with `text=auto` are: small, and without `ident`.
        if (conversion.crlf === 'auto' && !conversion.ident && content.length <= SCRATCH_BYTES) {
            const out = (this.#converted ??= new Uint8Array(CONVERTED_BYTES));
            const made = copyAutoCrlf(content, content.length, out);
            return made < 0 ? content : out.subarray(0, made);
        }
        const oid = this.#shownOid(conversion, this.#current);
        const size = convertedSize(conversion, content, content.length, oid);
        if (size < 0)
            return content;
        let out;
        if (size <= CONVERTED_BYTES)
            out = this.#converted ??= new Uint8Array(CONVERTED_BYTES);
        else
            out = new Uint8Array(size);
        const made = convertInto(conversion, content, content.length, oid, out);
        return out.subarray(0, made);
    }
    /** The blob's id where the conversion shows it: where git converts in memory that of the content, else that of the entry. */
    #shownOid(conversion, entry) {
        if (!conversion.ident)
            return NO_OID;
        if (conversion.kind !== 'stream')
            return this.#oid.subarray(this.#oidAt, this.#oidAt + this.#oidBytes);
        return this.#job.tables.oids.subarray(entry * this.#oidBytes, (entry + 1) * this.#oidBytes);
    }
    #streamed(conversion, entry) {
        if (conversion.kind === 'none') {
            return (write) => {
                this.#stream(write);
            };
        }
        const converter = createStreamConverter(conversion, this.#shownOid(conversion, entry));
        return (write) => {
            this.#stream((piece) => {
                converter.push(piece, write);
            });
            converter.end(write);
        };
    }
    /**
     * Whether what leads to the entry is directories. The main thread has made or seen them; if a link has come in the place of
     * one since, it puts that right.
     */
    #mayWrite(entry) {
        const { pathBytes, pathOffsets } = this.#job.tables;
        return this.#directories.look(pathBytes, pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0) !== 'other';
    }
    /** What is to become of a file or link at the place of an entry that was in this state. */
    #existing(before) {
        if (!this.#job.replaces)
            return 'stays';
        return before === tables_State.REPLACE ? 'is-likely' : 'goes';
    }
    #put(entry, before, content) {
        const { tables } = this.#job;
        const start = tables.pathOffsets[entry] ?? 0;
        const end = tables.pathOffsets[entry + 1] ?? 0;
        if (before !== tables_State.VERIFY && !this.#mayWrite(entry))
            return tables_State.COLLIDED;
        const path = this.#paths.absolute(tables.pathBytes, start, end);
        if (before === tables_State.VERIFY)
            return fileHasContent(path, content) ? tables_State.KEPT : tables_State.COLLIDED;
        const mode = tables.modes[entry] ?? 0;
        const stat = createFile(path, mode === MODE_EXECUTABLE, content, this.#existing(before));
        if (stat === null)
            return tables_State.COLLIDED;
        this.record(entry, stat);
        return tables_State.WRITTEN;
    }
    #describe(entry, error) {
        const { tables } = this.#job;
        const path = paths_displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        if (error instanceof errors_CheckoutError) {
            const oid = oidToHex(tables.oids, entry * this.#oidBytes, this.#oidBytes);
            const subject = { ...error.subject, path, oid };
            return new errors_CheckoutError(error.code, `cannot write '${path}' (blob ${oid}): ${error.message}`, subject);
        }
        return errors_ioError('write', path, error);
    }
}
/** What converting so many bytes takes beside them, mostly: line ends and ident first, then the encoding. */
function convertedBound({ kind, crlf, ident, encoding }, size) {
    if (kind === 'none')
        return 0;
    const text = crlf === 'none' && !ident && encoding !== undefined ? 1 : 2;
    return text * size * (encoding === undefined ? 1 : 1 + encodedBound(encoding));
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/removals.js




/** What came of a removal. */
const Removal = {
    OPEN: 0,
    /** It is gone now, or was already. */
    GONE: 1,
    /** Below a link, or below something that is no directory: not ours. */
    NOT_OURS: 2,
    /** The main thread tries again, and tells why not. */
    FAILED: 3,
};
/** Removals that a thread claims at a time: about 1 ms. A directory of the Linux tree has 15 files. */
const REMOVAL_BATCH = 64;
/** The table for entries of an old index; submodules are left out. */
function createRemovals(index, entries) {
    const files = entries.filter((entry) => index.modes[entry] !== MODE_GITLINK);
    const start = (entry) => index.pathOffsets[entry] ?? 0;
    const bytes = files.reduce((sum, entry) => sum + start(entry + 1) - start(entry), 0);
    const removals = {
        count: files.length,
        pathBytes: new Uint8Array(new SharedArrayBuffer(bytes)),
        pathOffsets: new Uint32Array(new SharedArrayBuffer(4 * (files.length + 1))),
        states: new Uint8Array(new SharedArrayBuffer(files.length)),
    };
    let at = 0;
    files.forEach((entry, i) => {
        const path = index.pathBytes.subarray(start(entry), start(entry + 1));
        removals.pathBytes.set(path, at);
        at += path.length;
        removals.pathOffsets[i + 1] = at;
    });
    return removals;
}
/** Claims and removes files until none is left or the run is stopped. */
function removeFiles(control, removals, paths) {
    const directories = new RealDirectories(paths);
    for (;;) {
        const start = Atomics.add(control, NEXT_REMOVAL, REMOVAL_BATCH);
        if (start >= removals.count)
            return;
        const end = Math.min(start + REMOVAL_BATCH, removals.count);
        for (let i = start; i < end; i++) {
            if (Atomics.load(control, STOP) !== 0)
                return;
            removals.states[i] = removeFile(removals, i, paths, directories);
        }
    }
}
function removeFile(removals, i, paths, directories) {
    const start = removals.pathOffsets[i] ?? 0;
    const end = removals.pathOffsets[i + 1] ?? 0;
    const leading = directories.look(removals.pathBytes, start, end);
    if (leading === 'unknown')
        return Removal.FAILED;
    if (leading !== 'real')
        return Removal.NOT_OURS;
    return unlinkTracked(paths.absolute(removals.pathBytes, start, end)) === null ? Removal.GONE : Removal.FAILED;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/stream/share.js
/**
 * What the threads of a streamed checkout share while the pack is still coming: a ring of inflated objects, cut into batches; the list of the
 * pack's objects; and the entries that are wanted. The main thread fills, workers take. All of it is shared memory.
 */

/** Batches that may be on their way. */
const BATCH_SLOTS = 1024;
// Words of `control`, each used through Atomics only.
/** Batches that were published; the next one's number. */
const PUBLISHED = 0;
/** Batches that were claimed. */
const CLAIMED = 1;
/** Batches that are done, in any order. */
const DONE = 2;
/** Not 0: no more batches will come. */
const ENDED = 3;
/** Workers that wait for a batch. */
const IDLE = 4;
const share_CONTROL_WORDS = 5;
// Fields of a batch.
const KIND = 0;
/** Of RING: where the first object is. */
const START = 1;
/** Of RING: numbers of objects, those with `placed`. Of DELTAS: places in the list of deltas. Of FAMILY: places in `families`. */
const FIRST = 2;
const END = 3;
const BATCH_FIELDS = 4;
/** Objects that lie one behind the other in the ring. */
const RING = 0;
/** Deltas, to be made of what the stored pack has. */
const DELTAS = 1;
/** A large object and the deltas that are made of it, in the order of the pack. */
const FAMILY = 2;
/** The conversion of an entry whose attributes have not all come. */
const UNKNOWN_CONVERSION = 0xff;
/** Bits of a code. */
const KNOWN = 0x80;
const IDENT = 0x40;
const KINDS = ['none', 'in-core', 'stream'];
const CRLF = ['none', 'text', 'auto'];
/** A conversion as one byte; 0 for those that are not done while the pack comes: they need more than the content. */
function conversionCode({ kind, crlf, ident, encoding }) {
    const at = KINDS.indexOf(kind);
    if (at < 0 || encoding !== undefined)
        return 0;
    return KNOWN | (ident ? IDENT : 0) | (CRLF.indexOf(crlf) << 2) | at;
}
/** The conversion that a code stands for; null for 0. */
function conversionOf(code) {
    const kind = KINDS[code & 3];
    const crlf = CRLF[(code >> 2) & 3];
    if (code === 0 || kind === undefined || crlf === undefined)
        return null;
    return { kind, crlf, ident: (code & IDENT) !== 0 };
}
/**
 * Memory for a stream of so many objects, with room for so many entries.
 * @throws CheckoutError memory
 */
function createShare(objects, entries, ringBytes, pack) {
    const shared = (bytes) => {
        try {
            return new SharedArrayBuffer(bytes);
        }
        catch (error) {
            throw new CheckoutError('memory', `cannot allocate ${bytes} bytes for a stream`, {}, error);
        }
    };
    // At most half full, so that a search is short.
    const slots = 2 ** Math.ceil(Math.log2(Math.max(16, 2 * entries)));
    return {
        control: new Int32Array(shared(4 * share_CONTROL_WORDS)),
        batches: new Float64Array(shared(8 * BATCH_FIELDS * BATCH_SLOTS)),
        done: new Int32Array(shared(4 * BATCH_SLOTS)),
        ring: new Uint8Array(shared(ringBytes)),
        objects,
        sizes: new Uint32Array(shared(4 * objects.count)),
        placed: new Uint8Array(shared(objects.count)),
        deltas: new Uint32Array(shared(4 * objects.count)),
        // A family has one object beside its deltas.
        families: new Uint32Array(shared(8 * objects.count)),
        slots: new Int32Array(shared(4 * slots)),
        next: new Int32Array(shared(4 * entries)),
        conversionCodes: new Uint8Array(shared(256)),
        stored: new Float64Array(shared(8)),
        packPath: pack.path,
        packFd: pack.fd,
    };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/stream/wanted.js

/** Ids are uniformly distributed, so four bytes of them are a hash. Whoever makes a repository can choose them; a search is bounded. */
function slotOf(oids, at, slots) {
    return ((((oids[at] ?? 0) | ((oids[at + 1] ?? 0) << 8) | ((oids[at + 2] ?? 0) << 16) | ((oids[at + 3] ?? 0) << 24)) >>> 0) &
        (slots - 1));
}
/** Longest run of filled slots that is searched. In a table that is half full, one of 40 does not occur by chance. */
const MOST_PROBES = 64;
/** Adds an entry; main thread only. */
function addWanted({ slots, next }, tables, entry) {
    const { oidBytes } = tables.format;
    const oidAt = entry * oidBytes;
    let slot = slotOf(tables.oids, oidAt, slots.length);
    for (let probe = 0; probe < MOST_PROBES; probe++) {
        const head = slots[slot] ?? 0;
        if (head === 0 || oidEquals(tables.oids, (head - 1) * oidBytes, tables.oids, oidAt, oidBytes)) {
            // Before the entry can be found.
            next[entry] = head;
            Atomics.store(slots, slot, entry + 1);
            return;
        }
        slot = (slot + 1) & (slots.length - 1);
    }
}
/** The first entry that wants the blob of this id, or -1; `nextWanted` gives the others. */
function firstWanted({ slots }, tables, oids, oidAt) {
    const { oidBytes } = tables.format;
    let slot = slotOf(oids, oidAt, slots.length);
    for (let probe = 0; probe < MOST_PROBES; probe++) {
        const head = Atomics.load(slots, slot);
        if (head === 0)
            return -1;
        if (oid_oidEquals(tables.oids, (head - 1) * oidBytes, oids, oidAt, oidBytes))
            return head - 1;
        slot = (slot + 1) & (slots.length - 1);
    }
    return -1;
}
function nextWanted({ next }, entry) {
    return (next[entry] ?? 0) - 1;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/stream/take-batch.js
/**
 * What a thread does with a batch of a streamed checkout: finds out each object's id, and writes the entries that want it. Workers do this in
 * a loop until the stream has ended; the main thread does it when the ring is full, or alone.
 */









/** Bounds only how long a stop request goes unseen. */
const WAIT_MS = 100;
/** Batches between two looks at this thread's memory. */
const SAMPLE_EVERY = 16;
/** What is hashed before an object's content, and stands before it in the ring. */
function objectHead(type, size) {
    return `${typeName(type)} ${size}\0`;
}
/** Length of a head, without making it. */
function headLength(type, size) {
    let digits = 1;
    for (let rest = size; rest >= 10; rest = Math.floor(rest / 10))
        digits++;
    return typeName(type).length + 2 + digits;
}
/** Takes batches; one for each thread. */
class BatchTaker {
    #share;
    #job;
    #writer;
    #budget;
    #onLarge;
    #reader = null;
    #scratch = null;
    /**
     * @param thread number of the thread
     * @param onLarge called while large objects are held, to look at the memory that they take
     */
    constructor(share, job, writer, thread, onLarge) {
        this.#share = share;
        this.#job = job;
        this.#writer = writer;
        this.#budget = new Budget(job.budget, thread);
        this.#onLarge = onLarge;
    }
    close() {
        this.#reader?.close();
        this.#reader = null;
    }
    /** Claims a batch and sees to it; false when there is none now. */
    take() {
        const { control } = this.#share;
        for (;;) {
            const batch = Atomics.load(control, CLAIMED);
            if (batch >= Atomics.load(control, PUBLISHED))
                return false;
            if (Atomics.compareExchange(control, CLAIMED, batch, batch + 1) !== batch)
                continue;
            this.#see(batch % BATCH_SLOTS);
            return true;
        }
    }
    #see(slot) {
        const { batches, done, control } = this.#share;
        const at = slot * BATCH_FIELDS;
        const first = batches[at + FIRST] ?? 0;
        const end = batches[at + END] ?? 0;
        const kind = batches[at + KIND];
        if (kind === DELTAS)
            this.#seeDeltas(first, end);
        else if (kind === FAMILY)
            this.#seeFamily(first, end);
        else
            this.#seeRing(batches[at + START] ?? 0, first, end);
        Atomics.store(done, slot, 1);
        Atomics.add(control, DONE, 1);
        Atomics.notify(control, DONE);
    }
    #seeRing(start, first, end) {
        const { placed, sizes, ring, objects } = this.#share;
        const { oids, named, kinds, types, format } = objects;
        let at = start;
        for (let number = first; number < end; number++) {
            if (placed[number] !== 1)
                continue;
            if (Atomics.load(this.#job.control, STOP) !== 0)
                return;
            const size = sizes[number] ?? 0;
            const type = types[number] ?? 0;
            const contentAt = at + headLength(type, size);
            const contentEnd = contentAt + size;
            if (named[number] !== 1) {
                oids.set((0,external_node_crypto_namespaceObject.hash)(format.name, ring.subarray(at, contentEnd), 'buffer'), number * format.oidBytes);
                kinds[number] = type;
                Atomics.store(named, number, 1);
            }
            if (type === BLOB)
                this.#write(number, ring.subarray(contentAt, contentEnd));
            at = contentEnd;
        }
    }
    #seeDeltas(first, end) {
        const { deltas } = this.#share;
        for (let i = first; i < end; i++) {
            if (Atomics.load(this.#job.control, STOP) !== 0)
                return;
            this.#seeDelta(deltas[i] ?? 0);
        }
    }
    /** Makes a delta's object out of the stored pack, unless that takes memory; such are left. */
    #seeDelta(number) {
        const { objects } = this.#share;
        const { offsets, oids, named, kinds, format } = objects;
        if (named[number] === 1)
            return;
        const reader = this.#opened();
        try {
            reader.readAheadEnd = offsets[number + 1] ?? 0;
            reader.open(0, offsets[number] ?? 0);
            const content = reader.readSmall();
            if (content === null)
                return;
            const head = objectHead(reader.type, content.length);
            const scratch = this.#room(head.length + content.length);
            const headBytes = Buffer.from(scratch.buffer).write(head, 0, 'latin1');
            scratch.set(content, headBytes);
            const whole = scratch.subarray(0, headBytes + content.length);
            oids.set((0,external_node_crypto_namespaceObject.hash)(format.name, whole, 'buffer'), number * format.oidBytes);
            kinds[number] = reader.type;
            Atomics.store(named, number, 1);
            if (reader.type === BLOB)
                this.#write(number, whole.subarray(headBytes));
        }
        catch (error) {
            // It will be looked at again when all is there, and told then.
            if (!(error instanceof errors_CheckoutError))
                throw error;
        }
    }
    /** Makes the deltas of a large object, which is inflated once for all of them, and is written, too. What does not fit the budget is left. */
    #seeFamily(first, end) {
        const { families, objects } = this.#share;
        const { offsets, named } = objects;
        const reader = this.#opened();
        const head = families[first] ?? 0;
        let reserved = 0;
        try {
            reader.open(0, offsets[head] ?? 0);
            // Beyond the budget it would be given all of it; such are looked at alone, at the end, and held against the memory limit.
            if (2 * reader.size > this.#budget.limitBytes)
                return;
            // What is made of it is of about its size. At once, since whoever holds something must not wait.
            reserved = this.#budget.reserve(2 * reader.size, () => Atomics.load(this.#job.control, STOP) !== 0);
            if (reserved === 0)
                return;
            const content = reader.readRetained();
            if (reader.type === BLOB && named[head] === 1)
                this.#write(head, content);
            for (let i = first + 1; i < end; i++) {
                if (Atomics.load(this.#job.control, STOP) !== 0)
                    return;
                this.#seeLargeDelta(families[i] ?? 0, content.length);
            }
        }
        catch (error) {
            if (!(error instanceof errors_CheckoutError))
                throw error;
        }
        finally {
            reader.finish();
            reader.dropRetained();
            this.#budget.release(reserved);
        }
    }
    /** @param free bytes that are reserved already */
    #seeLargeDelta(number, free) {
        const { objects } = this.#share;
        const { offsets, named, kinds, oids, format } = objects;
        if (named[number] === 1)
            return;
        const reader = this.#opened();
        reader.open(0, offsets[number] ?? 0);
        reader.measure();
        const more = Math.max(0, reader.readBytes - free);
        const reserved = more === 0 ? 0 : this.#budget.tryReserve(more);
        if (more > 0 && reserved === 0)
            return;
        try {
            const content = reader.read();
            const hash = (0,external_node_crypto_namespaceObject.createHash)(format.name).update(objectHead(reader.type, content.length)).update(content);
            oids.set(hash.digest(), number * format.oidBytes);
            kinds[number] = reader.type;
            Atomics.store(named, number, 1);
            this.#onLarge();
            if (reader.type === BLOB)
                this.#write(number, content);
        }
        finally {
            reader.finish();
            this.#budget.release(reserved);
        }
    }
    #opened() {
        return (this.#reader ??= new PackReader([new GrowingPack(this.#share)], this.#share.objects.format));
    }
    #room(bytes) {
        if (this.#scratch === null || this.#scratch.length < bytes)
            this.#scratch = new Uint8Array(Math.max(bytes, 1 << 20));
        return this.#scratch;
    }
    /** Writes the entries that want an object and are not written. */
    #write(number, content) {
        const { objects, conversionCodes } = this.#share;
        const { tables, conversions } = this.#job;
        const oidAt = number * objects.format.oidBytes;
        let entry = firstWanted(this.#share, tables, objects.oids, oidAt);
        for (; entry >= 0; entry = nextWanted(this.#share, entry)) {
            const code = tables.conversions[entry] ?? UNKNOWN_CONVERSION;
            if (code === UNKNOWN_CONVERSION)
                continue;
            const known = conversions;
            if (known[code] === undefined) {
                const conversion = conversionOf(conversionCodes[code] ?? 0);
                if (conversion === null)
                    continue;
                known[code] = conversion;
            }
            // Another copy of the object may be in other hands; and of a worker that dies here, half a file may be left.
            if (Atomics.compareExchange(tables.states, entry, tables_State.PENDING, tables_State.COLLIDED) !== tables_State.PENDING)
                continue;
            this.#writer.writeContent(entry, content);
        }
    }
}
/** The pack as far as it is stored. A reader looks one byte behind the last entry, so the end is one byte before. */
class GrowingPack {
    path;
    indexPath = '';
    fd;
    #stored;
    constructor({ packPath, packFd, stored }) {
        this.path = packPath;
        this.fd = packFd;
        this.#stored = stored;
    }
    get end() {
        return (this.#stored[0] ?? 0) - 1;
    }
    get size() {
        return this.#stored[0] ?? 0;
    }
}
/** A worker's part of a streamed checkout: batches until no more come. */
function runStream(share, job, thread, writer, meter) {
    const { control } = share;
    const taker = new BatchTaker(share, job, writer, thread, () => meter.sample());
    try {
        for (let round = 0; Atomics.load(job.control, STOP) === 0;) {
            if (taker.take()) {
                if (round++ % SAMPLE_EVERY === 0)
                    meter.sample();
                continue;
            }
            const published = Atomics.load(control, PUBLISHED);
            if (Atomics.load(control, CLAIMED) < published)
                continue;
            if (Atomics.load(control, ENDED) !== 0)
                return;
            const start = performance.now();
            Atomics.add(control, IDLE, 1);
            Atomics.wait(control, PUBLISHED, published, WAIT_MS);
            Atomics.sub(control, IDLE, 1);
            writer.waitMs += performance.now() - start;
        }
    }
    finally {
        meter.sample();
        taker.close();
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/worker-loop.js
/**
 * The loop of a pass: claim a batch, wait until its way is clear, write its entries, and again until nothing is left. Claiming
 * is dynamic, so a slow worker holds nobody up. The main thread runs the same loop where there are no workers.
 */


/** Batches between two looks at this thread's memory. */
const worker_loop_SAMPLE_EVERY = 16;
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
        if (!isForWorkers(tables.states[entry]))
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
    if (pass.packs !== undefined)
        writer.usePacks(pass.packs);
    for (let round = 0; writeBatch(job, pass, writer); round++) {
        if (round % worker_loop_SAMPLE_EVERY === 0)
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
            // A thread may get a second job, after what it wrote while the pack came.
            const before = running;
            before?.writer.close();
            const meter = before?.meter ?? new CostMeter(id);
            const writer = new EntryWriter(job, id, (entry, error) => {
                send({ type: 'failed', entry, error });
            }, () => {
                meter.sample();
            }, (entry) => {
                send({ type: 'unencoded', entry });
            });
            writer.waitMs = before?.writer.waitMs ?? 0;
            running = { id, job, writer, meter, ready: loadTables(job.conversions) };
            return;
        }
        case 'remove':
            if (running === null)
                throw errors_bug('removals before their job');
            removeFiles(running.job.control, message.removals, new WorktreePaths(running.job.workTree));
            send({ type: 'passed' });
            return;
        case 'pass': {
            if (running === null)
                throw errors_bug('a pass before its job');
            const { job, writer, meter, ready } = running;
            void ready.then(() => {
                runPass(job, message.pass, writer, meter);
                send({ type: 'passed' });
            });
            return;
        }
        case 'stream':
            if (running === null)
                throw errors_bug('a stream before its job');
            runStream(message.share, running.job, running.id, running.writer, running.meter);
            send({ type: 'passed' });
            return;
        case 'clean':
            send({ type: 'cleaned', outcome: cleanShare(message.share) });
            return;
        case 'end':
            if (running !== null) {
                running.writer.close();
                send({ type: 'ended', cost: running.meter.cost(running.writer) });
            }
            port.close();
    }
});

