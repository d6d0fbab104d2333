export const id = 436;
export const ids = [436];
export const modules = {

/***/ 3804:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  checkOutArchive: () => (/* binding */ checkOutArchive)
});

// UNUSED EXPORTS: archiveSink, inputsWithoutEffect, whyGitIsNeeded

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:stream"
var external_node_stream_ = __webpack_require__(7075);
// EXTERNAL MODULE: external "node:stream/promises"
var promises_ = __webpack_require__(6466);
// EXTERNAL MODULE: external "node:zlib"
var external_node_zlib_ = __webpack_require__(8522);
// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __webpack_require__(2488);
// EXTERNAL MODULE: ./build/js/engine/errors.js
var errors = __webpack_require__(390);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: ./node_modules/tar/dist/esm/parse.js + 10 modules
var parse = __webpack_require__(3979);
// EXTERNAL MODULE: ./build/js/engine/engine.js + 231 modules
var engine = __webpack_require__(3118);
// EXTERNAL MODULE: ./build/js/action/log.js + 1 modules
var log = __webpack_require__(6872);
// EXTERNAL MODULE: ./build/js/action/ref.js
var ref = __webpack_require__(4604);
;// CONCATENATED MODULE: ./build/js/action/archive-writer.js
/**
 * Writes the files of a tarball, as a server makes it of a commit, into an empty directory. What is in it is not trusted:
 * the names are held against the rules of a checkout, every directory on the way to a file is one that was made here and
 * no link, files are created exclusively, and links are made when all files are there, so that none can lead a file
 * elsewhere. Everything is written at once as it comes, so that nothing is under way any more when something fails.
 */







/** As many entries as a checkout takes (docs/shortcomings.md). */
const MOST_ENTRIES = 0xffffff;
/** Characters of paths and targets of links, which are kept to the end. Linux 6.12 has 80 links. */
const MOST_LINK_CHARACTERS = 64 * 1024 * 1024;
/** Longer paths no system takes (PATH_MAX of Linux). */
const LONGEST_PATH = 4096;
function damaged(what) {
    return new errors/* CheckoutError */.vd('fetch-failed', (0,log/* harmlessLine */.Kw)(`the archive that the server sent is not one of a commit: ${what}`));
}
/** Takes the tarball in pieces. After an error of `write` or `end` only `close` may be called. */
class ArchiveWriter {
    #directory;
    #parser;
    #platform;
    /** Directories that were made here. */
    #made = new Set();
    #links = [];
    #linkCharacters = 0;
    #entries = 0;
    #files = 0;
    #bytes = 0;
    #commit = null;
    /** The directory that all entries are in. */
    #top = null;
    #open = null;
    #failure = null;
    /** A writer into `directory`, which is there and empty. */
    constructor(directory, platform = process.platform) {
        this.#directory = directory;
        this.#platform = platform;
        const parser = new parse/* Parser */.i({ strict: true, brotli: false, zstd: false });
        this.#parser = parser;
        // `strict` makes an error of what is otherwise passed over with a warning.
        parser.on('entry', (entry) => this.#guard(() => this.#take(entry)));
        parser.on('ignoredEntry', (entry) => this.#guard(() => this.#refuseIgnored(entry)));
        parser.on('error', (error) => this.#guard(() => {
            throw damaged(error.message);
        }));
    }
    /** Files and links so far. */
    get files() {
        return this.#files;
    }
    /** Bytes of files so far. */
    get bytes() {
        return this.#bytes;
    }
    /** The next piece of the tarball, which is not compressed. Throws `fetch-failed`, `path-invalid`, `io`. */
    write(chunk) {
        this.#parser.write(chunk);
        this.#check();
    }
    /** The end of the tarball: makes the links. Throws as `write`. */
    end() {
        this.#parser.end();
        this.#check();
        if (this.#top === null)
            throw damaged('nothing is in it');
        for (const { path, target } of this.#links)
            this.#makeLink(path, target);
        return { files: this.#files, bytes: this.#bytes, commit: this.#commit };
    }
    /** Lets go of the file that is being written. */
    close() {
        if (this.#open !== null)
            (0,external_node_fs_.closeSync)(this.#open);
        this.#open = null;
    }
    /** The parser calls from within its own loop and goes on with it: what comes after a failure is left alone. */
    #guard(work) {
        if (this.#failure !== null)
            return;
        try {
            work();
        }
        catch (error) {
            this.#failure = error;
        }
    }
    #check() {
        if (this.#failure !== null)
            throw this.#failure;
    }
    #refuseIgnored(entry) {
        throw damaged(`an entry of the type ${entry.type} with ${entry.size} bytes is in it`);
    }
    #take(entry) {
        // Flowing from the start, so that the parser never has to wait.
        entry.on('data', (chunk) => this.#guard(() => this.#append(entry, chunk)));
        entry.on('end', () => this.#guard(() => this.close()));
        const comment = entry.globalExtended?.comment;
        if (typeof comment === 'string' && (0,ref/* isObjectId */.TS)(comment))
            this.#commit = comment.toLowerCase();
        if (++this.#entries > MOST_ENTRIES)
            throw damaged(`more than ${MOST_ENTRIES} entries are in it`);
        const path = this.#pathOf(entry);
        if (path === null)
            return;
        switch (entry.type) {
            case 'Directory':
                this.#makeDirectory(path);
                return;
            case 'File':
            case 'OldFile':
                this.#files++;
                // As git: all may read (the umask decides), and run it if its owner may.
                this.#open = this.#create(path, ((entry.mode ?? 0) & 0o100) === 0 ? 0o666 : 0o777);
                return;
            case 'SymbolicLink': {
                this.#files++;
                const target = entry.linkpath ?? '';
                this.#linkCharacters += path.length + target.length;
                if (this.#linkCharacters > MOST_LINK_CHARACTERS)
                    throw damaged('its links are longer than any repository has them');
                this.#links.push({ path, target });
                return;
            }
            default:
                throw damaged(`'${path}' is of the type ${entry.type}`);
        }
    }
    /** The path below the one directory that all are in; null for that directory. */
    #pathOf(entry) {
        const isDirectory = entry.type === 'Directory';
        const whole = isDirectory ? entry.path.replace(/\/+$/, '') : entry.path;
        if (whole.length > LONGEST_PATH)
            throw damaged(`a path of ${whole.length} characters is in it`);
        const slash = whole.indexOf('/');
        const top = slash < 0 ? whole : whole.slice(0, slash);
        this.#top ??= top;
        if (top !== this.#top || (slash < 0 && !isDirectory)) {
            throw damaged(`not everything is in one directory: '${whole}' is beside '${this.#top}'`);
        }
        if (slash < 0)
            return null;
        const path = whole.slice(slash + 1);
        const reason = (0,engine/* refusedPath */.wP)(path, entry.type === 'SymbolicLink', this.#platform);
        if (reason !== null) {
            throw new errors/* CheckoutError */.vd('path-invalid', (0,log/* harmlessLine */.Kw)(`path '${path}' is refused: ${reason}`), { path });
        }
        if (path.includes('\ufffd') || (entry.linkpath ?? '').includes('\ufffd')) {
            const why = 'it is not UTF-8, or its target is not, and without git only that can be written';
            throw new errors/* CheckoutError */.vd('path-invalid', (0,log/* harmlessLine */.Kw)(`path '${path}' is refused: ${why}`), { path });
        }
        return path;
    }
    #append(entry, chunk) {
        if (this.#open === null) {
            throw damaged(`'${entry.path}' is of the type ${entry.type} and has content`);
        }
        try {
            for (let at = 0; at < chunk.length;)
                at += (0,external_node_fs_.writeSync)(this.#open, chunk, at);
        }
        catch (error) {
            throw (0,errors/* ioError */.bD)('write', entry.path, error);
        }
        this.#bytes += chunk.length;
    }
    #create(path, mode) {
        this.#makeDirectory((0,external_node_path_.dirname)(path));
        const file = (0,external_node_path_.join)(this.#directory, path);
        try {
            try {
                return (0,external_node_fs_.openSync)(file, 'wx', mode);
            }
            catch (error) {
                if ((0,errors/* errnoOf */.UQ)(error) !== 'EEXIST')
                    throw error;
                // Two names that are one on this file system: the last stays, as with git.
                (0,external_node_fs_.rmSync)(file);
                return (0,external_node_fs_.openSync)(file, 'wx', mode);
            }
        }
        catch (error) {
            throw (0,errors/* ioError */.bD)('create', file, error);
        }
    }
    #makeLink(path, target) {
        this.#makeDirectory((0,external_node_path_.dirname)(path));
        const link = (0,external_node_path_.join)(this.#directory, path);
        try {
            (0,external_node_fs_.rmSync)(link, { force: true });
            try {
                (0,external_node_fs_.symlinkSync)(target, link);
            }
            catch (error) {
                // Windows lets only some users make links; git writes a file with the target there.
                if (this.#platform !== 'win32' || (0,errors/* errnoOf */.UQ)(error) !== 'EPERM')
                    throw error;
                (0,external_node_fs_.writeFileSync)(link, target, { flag: 'wx' });
            }
        }
        catch (error) {
            throw (0,errors/* ioError */.bD)('create', link, error);
        }
    }
    /** Makes a directory and those above it; all of them are real ones. */
    #makeDirectory(path) {
        if (path === '.' || this.#made.has(path))
            return;
        this.#makeDirectory((0,external_node_path_.dirname)(path));
        const directory = (0,external_node_path_.join)(this.#directory, path);
        try {
            (0,external_node_fs_.mkdirSync)(directory);
        }
        catch (error) {
            if ((0,errors/* errnoOf */.UQ)(error) !== 'EEXIST')
                throw (0,errors/* ioError */.bD)('make directory', directory, error);
            // Another spelling of one that was made, where case does not count.
            if (!(0,external_node_fs_.lstatSync)(directory).isDirectory()) {
                throw new errors/* CheckoutError */.vd('path-invalid', (0,log/* harmlessLine */.Kw)(`'${path}' is a directory and something else as well`), {
                    path,
                });
            }
        }
        this.#made.add(path);
    }
}

// EXTERNAL MODULE: ./build/js/action/credentials.js
var credentials = __webpack_require__(9447);
// EXTERNAL MODULE: ./build/js/action/prepare-directory.js
var prepare_directory = __webpack_require__(2096);
// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(7067);
// EXTERNAL MODULE: external "node:https"
var external_node_https_ = __webpack_require__(4708);
// EXTERNAL MODULE: external "node:tls"
var external_node_tls_ = __webpack_require__(1692);
;// CONCATENATED MODULE: ./build/js/action/rest-api.js
/**
 * The server's REST interface, for a runner without git: one GET at a time, with redirects, limits and further attempts.
 * The token goes to the server that the settings name; where that one sends us elsewhere (an archive comes from a host of
 * its own), it stays behind. Addresses can hold a credential in their query, so none is ever shown with it.
 */






const MOST_REDIRECTS = 5;
/** Of an error's body; GitHub's are some 100 bytes. */
const MOST_ERROR_BYTES = 64 * 1024;
/** Of a JSON answer; that about a repository has some 10 KB. */
const MOST_JSON_BYTES = 4 * 1024 * 1024;
/** What is said of an address: the query is left out. */
function shown(url) {
    return `${url.origin}${url.pathname}`;
}
async function readBody(response, mostBytes) {
    const chunks = [];
    let length = 0;
    for await (const chunk of response) {
        length += chunk.length;
        if (length > mostBytes)
            return null;
        chunks.push(chunk);
    }
    return Buffer.concat(chunks);
}
function parseJson(body) {
    try {
        return body === null ? null : JSON.parse(body.toString('utf8'));
    }
    catch {
        return null;
    }
}
function textMember(value, name) {
    if (typeof value !== 'object' || value === null)
        return '';
    const member = value[name];
    return typeof member === 'string' ? member : '';
}
/** The failure that an answer other than 200 is. `notFound` says what a 404 means. */
async function statusFailure(response, url, notFound, redact) {
    const { statusCode: status = 0, headers } = response;
    const said = textMember(parseJson(await readBody(response, MOST_ERROR_BYTES)), 'message').slice(0, 200);
    const text = (0,log/* harmlessLine */.Kw)(redact(`${shown(url)} answered ${status}${said === '' ? '' : `: ${said}`}`));
    if (status === 404)
        return notFound;
    const after = (0,engine/* parseRetryAfter */.mu)(headers['retry-after'] ?? '', Date.now());
    // GitHub's limits: of one it says when to come back; of the hourly one another header does, and it is not within seconds.
    const isLimited = status === 403 && (after !== null || headers['x-ratelimit-remaining'] === '0');
    if ((0,engine/* isTransientStatus */.Dm)(status) || (isLimited && after !== null)) {
        return new engine/* TransientFetchError */.B1('fetch-failed', text, {}, after);
    }
    const isRefused = status === 401 || (status === 403 && !isLimited);
    return new errors/* CheckoutError */.vd(isRefused ? 'authentication-failed' : 'fetch-failed', text);
}
/** The first Node that can use a proxy without a library (http.Agent, `proxyEnv`). */
function canUseProxy(version) {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    return major > 24 || (major === 24 && minor >= 5);
}
function agentFor(url, environment) {
    const names = url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
    const asksForProxy = names.some((name) => (environment[name] ?? '') !== '');
    if (asksForProxy && !canUseProxy(process.versions.node)) {
        const what = `Node.js ${process.versions.node} cannot use the proxy of ${names[0] ?? ''}; 24.5 and newer can`;
        throw new errors/* CheckoutError */.vd('unsupported', what);
    }
    const options = asksForProxy ? { proxyEnv: { ...environment } } : {};
    if (url.protocol === 'http:')
        return new external_node_http_.Agent(options);
    // The system's authorities too, as git trusts them (some 45 ms to read): Node by itself knows its own and NODE_EXTRA_CA_CERTS.
    const ca = [...(0,external_node_tls_.getCACertificates)('default'), ...(0,external_node_tls_.getCACertificates)('system')];
    return new external_node_https_.Agent({ ...options, ca });
}
/** Whether Node's code of a failed connection says that it does not trust the server, which no other attempt changes. */
function isCertificateFault(code) {
    return /CERT|SIGNATURE|CRL|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|^PATH_LENGTH_EXCEEDED$/.test(code);
}
/** One request and what is done with its answer, within the limits. Redirects are followed by the caller. */
async function exchange(api, url, sendsToken, consume) {
    const { stallMs = engine/* STALL_MS */.Gn, deadlineMs = engine/* DEADLINE_MS */.Wp } = api.limits;
    const { signal } = api;
    const agent = agentFor(url, api.environment);
    const headers = {
        accept: 'application/vnd.github+json',
        'accept-encoding': 'identity',
        'user-agent': 'parallel-checkout',
        ...(sendsToken ? { authorization: `token ${api.token}` } : {}),
    };
    const get = url.protocol === 'https:' ? external_node_https_.get : external_node_http_.get;
    const request = get(url, { agent, headers, signal });
    const stopped = [];
    const stop = (error) => {
        stopped.push(error);
        request.destroy(error);
    };
    let before = 0;
    const watch = () => {
        const now = request.socket?.bytesRead ?? 0;
        const enough = now - before >= stallMs;
        before = now;
        // 1000 bytes a second are a byte a millisecond.
        const what = `${shown(url)} sent less than 1000 bytes a second for ${stallMs / 1000} s`;
        if (!enough)
            stop(new engine/* TransientFetchError */.B1('fetch-failed', what, {}, null));
    };
    const over = () => {
        stop(new errors/* CheckoutError */.vd('fetch-failed', `${shown(url)} took longer than ${deadlineMs / 1000} s`));
    };
    const timers = [
        ...(stallMs === 0 ? [] : [setInterval(watch, stallMs)]),
        ...(deadlineMs === 0 ? [] : [setTimeout(over, deadlineMs)]),
    ];
    try {
        const response = await new Promise((resolve, reject) => {
            request.once('response', resolve).once('error', reject);
        });
        // Once there is an answer, its stream has the error; one of the request as well must not end the process.
        request.on('error', () => undefined);
        return await consume(response);
    }
    catch (error) {
        if (signal.aborted)
            throw new errors/* CheckoutError */.vd('interrupted', 'interrupted while the archive was fetched', {}, error);
        if (stopped[0] !== undefined)
            throw stopped[0];
        if (error instanceof errors/* CheckoutError */.vd)
            throw error;
        const errno = (0,errors/* errnoOf */.UQ)(error);
        // A failure of ours has no code; what the network, TLS or zlib say has one.
        if (errno === undefined)
            throw error;
        const reason = (error instanceof Error ? error.message : '') || errno;
        if (isCertificateFault(errno)) {
            // What Node adds is advice about its own command line.
            const what = `${shown(url)}: ${reason.replace(/;.*/s, '')} (${errno}). NODE_EXTRA_CA_CERTS can name a file of further authorities`;
            throw new errors/* CheckoutError */.vd('fetch-failed', (0,log/* harmlessLine */.Kw)(what), { errno }, error);
        }
        throw new engine/* TransientFetchError */.B1('fetch-failed', (0,log/* harmlessLine */.Kw)(`${shown(url)}: ${reason}`), { errno }, null, error);
    }
    finally {
        for (const timer of timers)
            clearInterval(timer);
        request.destroy();
        agent.destroy();
    }
}
/** Follows redirects to the answer. The token stays with the server that the settings name. */
async function getOnce(api, path, notFound, consume) {
    const redact = (0,engine/* redactor */.$p)({ TOKEN: api.token });
    const first = URL.parse(`${api.baseUrl}${path}`);
    if (first === null || !/^https?:$/.test(first.protocol)) {
        throw new errors/* CheckoutError */.vd('usage', (0,log/* harmlessLine */.Kw)(`the REST interface has no http or https address: '${api.baseUrl}'`));
    }
    const { origin } = first;
    let url = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
        const answer = await exchange(api, url, url.origin === origin, async (response) => {
            const { statusCode = 0, headers } = response;
            if (statusCode === 200)
                return { result: await consume(response) };
            if (![301, 302, 303, 307, 308].includes(statusCode))
                throw await statusFailure(response, url, notFound, redact);
            const next = headers.location === undefined ? null : URL.parse(headers.location, url.href);
            if (next === null ||
                !/^https?:$/.test(next.protocol) ||
                (url.protocol === 'https:' && next.protocol === 'http:')) {
                const what = `${shown(url)} sends us to ${next === null ? 'nowhere' : shown(next)}, which is not followed`;
                throw new errors/* CheckoutError */.vd('fetch-failed', (0,log/* harmlessLine */.Kw)(what));
            }
            return { next };
        });
        if ('result' in answer)
            return answer.result;
        url = answer.next;
    }
    throw new errors/* CheckoutError */.vd('fetch-failed', `${shown(url)}: the server redirected more than ${MOST_REDIRECTS} times`);
}
/**
 * Gets `path` and hands the answer with status 200 to `consume`, again from the start where an attempt failed for what may
 * pass, by the rules of every fetch.
 *
 * @param notFound the error that status 404 is
 * @throws CheckoutError fetch-failed, authentication-failed, interrupted, unsupported (a proxy with an old Node.js), `notFound`,
 *   and what `consume` throws
 */
async function restGet(api, path, notFound, consume) {
    const { limits, signal, log } = api;
    return (0,engine/* withRetries */.LH)({ limits, signal, warn: log }, () => getOnce(api, path, notFound, consume));
}
/**
 * The name of the repository's default branch. A wiki is no repository to the REST interface; its branch is `master`.
 * Throws as `restGet`; `fetch-failed` where there is no such repository.
 */
async function restDefaultBranch(api, owner, name) {
    const isWiki = name.toUpperCase().endsWith('.WIKI');
    const what = `the server has no repository '${owner}/${name}', or the token cannot read it`;
    const notFound = new errors/* CheckoutError */.vd('fetch-failed', (0,log/* harmlessLine */.Kw)(what));
    try {
        return await restGet(api, `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`, notFound, async (response) => {
            const branch = textMember(parseJson(await readBody(response, MOST_JSON_BYTES)), 'default_branch');
            if (branch === '')
                throw new errors/* CheckoutError */.vd('fetch-failed', `the server does not say the default branch of '${owner}/${name}'`);
            return branch;
        });
    }
    catch (error) {
        if (error === notFound && isWiki)
            return 'master';
        throw error;
    }
}

;// CONCATENATED MODULE: ./build/js/action/rest-archive.js
/**
 * The checkout where no git is on the runner: the commit's files as an archive from the server's REST interface. There is
 * no repository then, which is why this comes last: an engine that can make a repository without git goes before it, in
 * `runWithoutGit` of main.ts, and this takes what it cannot do.
 */











/** Why the settings cannot do without git, as the error to end with; null if they can. Pure. */
function whyGitIsNeeded(settings) {
    const asked = [
        ['ssh-key', settings.ssh !== null, 'an archive cannot be fetched with an SSH key'],
        ['submodules', settings.submodules !== null, 'an archive has none'],
        ['lfs', settings.lfs !== null, 'an archive has pointer files only'],
        ['engine', settings.engine !== 'auto', `'${settings.engine}' needs a repository`],
        ['transport', settings.transport !== 'auto', `'${settings.transport}' needs a repository`],
        ['verify', settings.verify, 'the files of an archive cannot be verified'],
    ];
    const needs = asked.find(([, isAsked]) => isAsked);
    if (needs === undefined)
        return null;
    const [option, , why] = needs;
    return new errors/* CheckoutError */.vd('git-missing', `git is not in PATH, and input '${option}' needs it: ${why}`, { option });
}
/** What of the settings an archive has no place for, by the names of the inputs. Pure. */
function inputsWithoutEffect(settings) {
    const given = [
        ['sparse-checkout', settings.sparse.kind !== 'off'],
        // Implied by sparse-checkout, so that it may be there without having been asked for.
        ['filter', settings.filter !== null && settings.sparse.kind === 'off'],
        ['fetch-depth', settings.fetchDepth !== 1 || settings.mergeBase !== null],
        ['fetch-tags', settings.fetchTags],
        ['clean-exclude', settings.cleanExclude.length > 0],
    ];
    return given.filter(([, isGiven]) => isGiven).map(([name]) => name);
}
/** What is missing, for a warning. */
function missing(settings) {
    const ignored = inputsWithoutEffect(settings);
    const inputs = ignored.length === 0 ? '' : `; without effect: ${ignored.join(', ')}`;
    return ('git is not in PATH: the files come as an archive from the REST API. There is no repository (.git) and no token for ' +
        `later steps, submodules are empty directories, and Git LFS files are pointers${inputs}`);
}
/** A stream that ends in the writer. Tells the observer how far it is. */
function archiveSink(writer, observer) {
    return new external_node_stream_.Writable({
        write(chunk, _encoding, done) {
            try {
                writer.write(chunk);
                // How many there will be is not known: servers send archives as they make them.
                observer.progress({ phase: 'write', filesDone: writer.files, filesTotal: 0, bytesDone: writer.bytes });
                done();
            }
            catch (error) {
                done(error);
            }
        },
    });
}
/** Where the archive of the commit or ref is; of the default branch if `revision` is empty. */
async function fetchArchive(api, settings, revision) {
    const { owner, name, repositoryPath } = settings;
    const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/tarball/${encodeURIComponent(revision)}`;
    const what = `the server has no archive of '${revision}' of '${owner}/${name}', or the token cannot read it`;
    const notFound = new errors/* CheckoutError */.vd('unknown-revision', (0,log/* harmlessLine */.Kw)(what), { option: 'ref' });
    return restGet(api, path, notFound, async (response) => {
        // An attempt before this one may have written something.
        (0,prepare_directory/* emptyDirectory */.hK)(repositoryPath);
        const writer = new ArchiveWriter(repositoryPath);
        const observer = (0,log/* logObserver */.JH)(settings.showProgress);
        try {
            await (0,promises_.pipeline)(response, (0,external_node_zlib_.createGunzip)(), archiveSink(writer, observer), { signal: api.signal });
            return writer.end();
        }
        finally {
            writer.close();
        }
    });
}
/**
 * The whole step without git. Nothing is touched if the settings need git. When it fails later, the directory is empty.
 *
 * @throws CheckoutError git-missing, fetch-failed, authentication-failed, unknown-revision, path-invalid, io, interrupted
 */
async function checkOutArchive(settings, environment, signal) {
    const started = performance.now();
    const needed = whyGitIsNeeded(settings);
    if (needed !== null)
        throw needed;
    if (!/^[\x21-\x7e]+$/.test(settings.token)) {
        throw new errors/* CheckoutError */.vd('usage', `input 'token' has characters that no token has`, { option: 'token' });
    }
    (0,core/* warning */.$e)((0,log/* harmlessLine */.Kw)(missing(settings)));
    const { repositoryPath, runnerTemp, serverOrigin } = settings;
    const origins = [serverOrigin, environment['GITHUB_SERVER_URL'] ?? ''];
    await (0,log/* logGroup */.QT)('Preparing the directory', async () => {
        if (!(0,prepare_directory/* makeDirectory */.Oh)(repositoryPath))
            return;
        // An earlier checkout's token lies outside of the directory.
        for (const failure of (0,credentials/* removeCredentials */.tm)({ gitDir: (0,external_node_path_.join)(repositoryPath, '.git'), runnerTemp, origins })) {
            (0,core/* warning */.$e)((0,log/* harmlessLine */.Kw)(`Credentials may be left: ${failure.message}`));
        }
        (0,log/* logLine */.BP)(`The contents of '${repositoryPath}' are removed, since an archive can only be written into an empty directory`);
        (0,prepare_directory/* emptyDirectory */.hK)(repositoryPath);
        await Promise.resolve();
    });
    const content = await (0,log/* logGroup */.QT)('Fetching the archive', async () => {
        const { apiUrl: baseUrl, token, fetchLimits: limits } = settings;
        const api = { baseUrl, token, environment, signal, limits, log: log/* logLine */.BP };
        const commit = settings.form !== null && 'commit' in settings.form ? settings.form.commit : '';
        const revision = commit || settings.ref || (await restDefaultBranch(api, settings.owner, settings.name));
        (0,log/* logLine */.BP)(`The archive of '${revision}' from ${api.baseUrl}`);
        try {
            return await fetchArchive(api, settings, revision);
        }
        catch (error) {
            // Half of the files must not pass for a checkout.
            try {
                (0,prepare_directory/* emptyDirectory */.hK)(repositoryPath);
            }
            catch (left) {
                (0,core/* warning */.$e)((0,log/* harmlessLine */.Kw)(left instanceof Error ? left.message : String(left)));
            }
            throw error;
        }
    });
    const ms = performance.now() - started;
    (0,log/* logLine */.BP)(`${content.files} files, ${content.bytes} bytes in ${Math.round(ms)} ms`);
    if (content.commit !== null)
        (0,core/* setOutput */.uH)('commit', content.commit);
    (0,core/* setOutput */.uH)('ref', settings.ref);
    (0,core/* setOutput */.uH)('engine', 'archive');
    (0,core/* setOutput */.uH)('workers', '0');
    (0,core/* setOutput */.uH)('files', String(content.files));
    (0,core/* setOutput */.uH)('bytes', String(content.bytes));
    (0,core/* setOutput */.uH)('duration-ms', String(Math.round(ms)));
    (0,core/* setOutput */.uH)('peak-memory-bytes', String(process.resourceUsage().maxRSS * 1024));
}


/***/ })

};
