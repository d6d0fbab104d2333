import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({

/***/ 181:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("buffer");

/***/ }),

/***/ 9896:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("fs");

/***/ }),

/***/ 7598:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:crypto");

/***/ }),

/***/ 3024:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");

/***/ }),

/***/ 8161:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:os");

/***/ }),

/***/ 6760:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");

/***/ }),

/***/ 857:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("os");

/***/ }),

/***/ 2203:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("stream");

/***/ }),

/***/ 3193:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("string_decoder");

/***/ }),

/***/ 2787:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  c: () => (/* binding */ publishAnnotations)
});

// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(2488);
// EXTERNAL MODULE: ./build/js/engine/report/format.js
var format = __nccwpck_require__(8093);
// EXTERNAL MODULE: ./build/js/engine/report/outputs.js
var outputs = __nccwpck_require__(8574);
;// CONCATENATED MODULE: ./build/js/engine/report/text.js


/** More than this scrolls the rest of the report away; the JSON has them all. */
const LISTED_ENTRIES = 50;
/** Several lines, the last one ended. Free of control characters whatever the repository holds. */
function reportToText(report) {
    const sections = [headline(report), ...planLines(report.plan)];
    if (report.phases.length > 0)
        sections.push('', ...phaseLines(report.phases));
    if (report.workers.length > 0)
        sections.push('', ...workerLines(report.workers));
    sections.push('', ...totalLines(report));
    const fallbacks = report.fallbacks.map(({ stage, reason }) => `${stage}: ${printable(reason)}`);
    if (fallbacks.length > 0)
        sections.push('', `Handed to git: ${fallbacks.length}`, ...listed(fallbacks));
    const skipped = report.skipped.map(({ path, reason }) => `${printable(path)}: ${printable(reason)}`);
    if (skipped.length > 0)
        sections.push('', `Not written: ${formatCount(skipped.length)}`, ...listed(skipped));
    return `${sections.join('\n')}\n`;
}
/** The plan alone, as `plan` prints it. */
function planToText(plan) {
    return `${planLines(plan).join('\n')}\n`;
}
/** The outcome in one line: how much, how long, by whom; for a failed run its error first. */
function headline(report) {
    return report.error === undefined
        ? `Checked out ${workSentence(report)}`
        : `Failed (${printable(report.error.code)}): ${printable(report.error.message)}; until then ${workSentence(report)}`;
}
/** What was done, without how it ended. */
function workSentence(report) {
    const { totals } = report;
    return (`${(0,format/* plural */.LS)(totals.files, 'file')}, ${(0,format/* formatBytes */.z3)(totals.bytesWritten)} in ${(0,format/* formatMs */._V)(totals.wallMs)} ` +
        `by ${report.engine === 'native' ? 'the native engine' : 'git'} with ${workersPhrase(report)}, ` +
        `peak memory ${(0,format/* formatBytes */.z3)(totals.peakRssBytes)}`);
}
function workersPhrase(report) {
    const workers = (0,outputs/* workersUsed */.v)(report);
    return workers === 0 ? 'no worker threads' : (0,format/* plural */.LS)(workers, 'worker');
}
function planLines(plan) {
    const lines = [planSentence(plan)];
    const width = Math.max(0, ...plan.reasons.map((reason) => reason.about.length));
    for (const { about, text, decided } of plan.reasons) {
        lines.push(`  ${decided ? '*' : ' '} ${about.padEnd(width)}  ${printable(text)}`);
    }
    if (plan.reasons.some((reason) => reason.decided))
        lines.push('  (* decided)');
    return lines;
}
function phaseLines(phases) {
    return ['Phases (they may overlap)', ...columns(phases.map(({ name, ms }) => [name, formatMs(ms)]))];
}
function workerLines(workers) {
    const rows = workers.map((worker) => [
        workerName(worker),
        formatCount(worker.files),
        formatBytes(worker.bytesWritten),
        formatMs(worker.wallMs),
        formatMs(worker.cpuUserMs),
        formatMs(worker.cpuSystemMs),
        formatMs(worker.waitMs),
        formatBytes(worker.peakMemoryBytes),
    ]);
    const head = ['worker', 'files', 'written', 'time', 'CPU user', 'CPU system', 'waiting', 'peak memory'];
    return ['Workers', ...columns([head, ...rows])];
}
function totalLines(report) {
    const { totals } = report;
    const rows = [
        ['written', `${plural(totals.files, 'file')}, ${formatBytes(totals.bytesWritten)}`],
        ['already right', plural(totals.kept, 'file')],
        ...(totals.excluded > 0 ? [['not in sparse checkout', plural(totals.excluded, 'file')]] : []),
        ['removed', plural(totals.removed, 'file')],
        ...(totals.cleaned > 0 ? [['cleaned', plural(totals.cleaned, 'untracked file')]] : []),
        ['time', formatMs(totals.wallMs)],
        ['CPU', `${formatMs(totals.cpuUserMs)} user, ${formatMs(totals.cpuSystemMs)} system`],
        ['peak memory', formatBytes(totals.peakRssBytes)],
        ['objects from', report.transport === null ? 'what was here' : `a fetch (${report.transport})`],
        ['commit', report.commit === null ? 'unknown' : printable(report.commit)],
    ];
    const width = Math.max(...rows.map((row) => row[0].length));
    return ['Totals', ...rows.map(([name = '', value = '']) => `  ${name.padEnd(width)}  ${value}`)];
}
/** First column to the left, the others to the right. */
function columns(rows) {
    const widths = [];
    for (const row of rows)
        row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
    return rows.map((row) => {
        const cells = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])));
        return `  ${cells.join('  ')}`;
    });
}
function listed(lines) {
    const shown = lines.slice(0, LISTED_ENTRIES).map((line) => `  ${line}`);
    const rest = lines.length - shown.length;
    return rest === 0 ? shown : [...shown, `  … and ${formatCount(rest)} more, all of them in the JSON report`];
}

// EXTERNAL MODULE: ./build/js/engine/report/worker-groups.js
var worker_groups = __nccwpck_require__(9849);
;// CONCATENATED MODULE: ./build/js/engine/report/annotations.js



/** Annotations that GitHub shows of one level and step. All levels together stay below it, to be sure. */
const ANNOTATION_LIMIT = 10;
/** `_maxIssueMessageLength` of the runner (actions/runner, ExecutionContext), less some room. */
const MESSAGE_CHARACTERS = 4000;
/** Entries that one warning names before it counts the rest. */
const NAMED_ENTRIES = 10;
/**
 * At most `limit` values, the most important first: the error of a failed run, the outcome, warnings about what was not
 * done natively or not at all, and then the workers. A caller who fails the step with the error's message itself leaves
 * out the value of level 'error'.
 */
function reportToAnnotations(report, limit = ANNOTATION_LIMIT) {
    const annotations = [];
    if (report.error !== undefined) {
        annotations.push({
            level: 'error',
            title: `parallel-checkout failed (${(0,format/* printable */.g$)(report.error.code, 100)})`,
            message: (0,format/* printable */.g$)(report.error.message, MESSAGE_CHARACTERS),
        });
    }
    annotations.push(outcome(report), ...warnings(report));
    // A lone main thread is in the outcome already.
    if (report.workers.some((worker) => worker.id !== 0)) {
        const room = Math.max(0, limit - annotations.length);
        for (const group of (0,worker_groups/* groupWorkers */.X8)(report.workers, room))
            annotations.push(workerNotice(group));
    }
    return annotations.slice(0, limit);
}
function outcome(report) {
    const decided = report.plan.reasons.filter((reason) => reason.decided);
    const lines = [
        `${report.error === undefined ? 'Checked out' : 'Until it failed:'} ${workSentence(report)}`,
        ...decided.map(({ about, text }) => `${about}: ${(0,format/* printable */.g$)(text, 300)}`),
    ];
    return { level: 'notice', title: 'parallel-checkout', message: lines.join('\n').slice(0, MESSAGE_CHARACTERS) };
}
function warnings(report) {
    const found = [];
    const { fallbacks, skipped } = report;
    if (fallbacks.length > 0) {
        found.push({
            level: 'warning',
            title: 'parallel-checkout: handed to git',
            message: some(fallbacks.map(({ stage, reason }) => `${stage}: ${(0,format/* printable */.g$)(reason, 300)}`)),
        });
    }
    if (skipped.length > 0) {
        found.push({
            level: 'warning',
            title: `parallel-checkout: not written: ${(0,format/* formatCount */.B4)(skipped.length)}`,
            message: some(skipped.map(({ path, reason }) => `${(0,format/* printable */.g$)(path, 200)}: ${(0,format/* printable */.g$)(reason, 150)}`)),
        });
    }
    const dead = report.workers.filter((worker) => worker.died === true);
    if (dead.length > 0) {
        found.push({
            level: 'warning',
            title: 'parallel-checkout: workers that ended early',
            message: some(dead.map((worker) => `${(0,format/* workerName */.ig)(worker)}: others took its entries over`)),
        });
    }
    return found;
}
function workerNotice(group) {
    const title = (0,worker_groups/* groupName */.hv)(group);
    const [only] = group;
    if (group.length === 1 && only !== undefined)
        return { level: 'notice', title, message: (0,worker_groups/* costSentence */.Lp)(only) };
    const each = group.map(worker_groups/* workerSentence */.wE).join('\n');
    const together = `together: ${(0,worker_groups/* costSentence */.Lp)((0,worker_groups/* groupCost */.ZW)(group))} (time and memory: the highest of one)`;
    return { level: 'notice', title, message: each.length <= MESSAGE_CHARACTERS ? each : together };
}
function some(lines) {
    const rest = lines.length - NAMED_ENTRIES;
    const shown = lines.slice(0, NAMED_ENTRIES);
    if (rest > 0)
        shown.push(`… and ${(0,format/* formatCount */.B4)(rest)} more`);
    return shown.join('\n').slice(0, MESSAGE_CHARACTERS);
}

;// CONCATENATED MODULE: ./build/js/action/annotations.js
/**
 * Shows the report as annotations of the job: the outcome, what was handed to git, and what each worker did.
 */


/** Prints them. The error of a failed run is left out: main.ts fails the step with it. */
function publishAnnotations(report) {
    for (const { level, title, message } of reportToAnnotations(report)) {
        if (level === 'notice')
            (0,core/* notice */.lm)(message, { title });
        else if (level === 'warning')
            (0,core/* warning */.$e)(message, { title });
    }
}


/***/ }),

/***/ 1658:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   $R: () => (/* binding */ formatSection),
/* harmony export */   Qw: () => (/* binding */ removeVariables),
/* harmony export */   RG: () => (/* binding */ readConfigFile),
/* harmony export */   T3: () => (/* binding */ editConfigFile),
/* harmony export */   bN: () => (/* binding */ appendSections),
/* harmony export */   br: () => (/* binding */ configValues),
/* harmony export */   sz: () => (/* binding */ configVariables),
/* harmony export */   zz: () => (/* binding */ removeSections)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(390);
/**
 * Edits one git configuration file as text, without a git process. The step writes a dozen keys and the clean-up removes
 * them again; a `git config` call for each is most of what a small checkout would cost (3 ms on Linux, 30 and more on
 * Windows), and the clean-up must also work where git is gone.
 *
 * Everything that is not asked for stays byte for byte: comments, order, blank lines. Text is held as latin1, so that
 * bytes that are not UTF-8 survive. Syntax: git-config(1), "Syntax".
 */


const BOM = '\xef\xbb\xbf';
function fromLatin1(text) {
    return Buffer.from(text, 'latin1').toString('utf8');
}
function toLatin1(text) {
    return Buffer.from(text, 'utf8').toString('latin1');
}
/** Where the line of `at` starts if nothing but blanks stands before `at` on it, else `at`. */
function lineStartOr(text, at) {
    let start = at;
    while (start > 0 && (text[start - 1] === ' ' || text[start - 1] === '\t'))
        start--;
    return start === 0 || text[start - 1] === '\n' ? start : at;
}
function parseBlocks(text) {
    const blocks = [];
    let block;
    let at = text.startsWith(BOM) ? BOM.length : 0;
    const invalid = () => {
        const line = text.slice(0, at).split('\n').length;
        return new _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd('config-invalid', `git configuration cannot be read: bad line ${line}`);
    };
    const skipComment = () => {
        while (at < text.length && text[at] !== '\n')
            at++;
    };
    const header = () => {
        const start = lineStartOr(text, at);
        const match = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
        match.lastIndex = at;
        const found = match.exec(text);
        if (found === null)
            throw invalid();
        at = match.lastIndex;
        const name = found[1].toLowerCase();
        const quoted = found[2];
        const dot = name.indexOf('.');
        // `[section.sub]` is the old spelling; its subsection is in lower case.
        const section = quoted === undefined && dot >= 0 ? name.slice(0, dot) : name;
        const old = quoted === undefined && dot >= 0 ? name.slice(dot + 1) : null;
        const subsection = quoted === undefined ? old : fromLatin1(quoted.replace(/\\(.)/g, '$1'));
        if (block !== undefined)
            block.end = start;
        block = { section, subsection, start, end: text.length, variables: [], hasComment: false };
        blocks.push(block);
    };
    const value = () => {
        let decoded = '';
        let keep = 0; // blanks at the end that are not quoted do not belong to the value
        let quoted = false;
        while (at < text.length) {
            const character = text[at];
            if (character === '\n') {
                if (quoted)
                    throw invalid();
                break;
            }
            if (character === '\r' && text[at + 1] === '\n') {
                at++;
                continue;
            }
            if (!quoted && (character === '#' || character === ';')) {
                skipComment();
                break;
            }
            at++;
            if (character === '"') {
                quoted = !quoted;
                keep = decoded.length;
            }
            else if (character === '\\') {
                const escaped = text[at];
                at++;
                if (escaped === '\n')
                    continue;
                if (escaped === '\r' && text[at] === '\n') {
                    at++;
                    continue;
                }
                const plain = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' }[escaped ?? ''];
                if (plain === undefined)
                    throw invalid();
                decoded += plain;
                keep = decoded.length;
            }
            else {
                decoded += character;
                if (quoted || (character !== ' ' && character !== '\t'))
                    keep = decoded.length;
            }
        }
        if (quoted)
            throw invalid();
        return fromLatin1(decoded.slice(0, keep));
    };
    const variable = () => {
        if (block === undefined)
            throw invalid();
        const start = lineStartOr(text, at);
        const match = /[A-Za-z][A-Za-z0-9-]*/y;
        match.lastIndex = at;
        const found = match.exec(text);
        if (found === null)
            throw invalid();
        at = match.lastIndex;
        while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r')
            at++;
        let decoded = null;
        if (text[at] === '=') {
            at++;
            while (text[at] === ' ' || text[at] === '\t')
                at++;
            decoded = value();
        }
        else if (text[at] === '#' || text[at] === ';') {
            skipComment();
        }
        else if (at < text.length && text[at] !== '\n') {
            throw invalid();
        }
        const ownLine = start === 0 || text[start - 1] === '\n';
        const end = ownLine && text[at] === '\n' ? at + 1 : at;
        const { section, subsection } = block;
        block.variables.push({ section, subsection, name: found[0].toLowerCase(), value: decoded, start, end });
    };
    while (at < text.length) {
        const character = text[at];
        if (character === ' ' || character === '\t' || character === '\r' || character === '\n')
            at++;
        else if (character === '#' || character === ';') {
            if (block !== undefined)
                block.hasComment = true;
            skipComment();
        }
        else if (character === '[')
            header();
        else
            variable();
    }
    return blocks;
}
/** The variables of a configuration file's text, in its order. Throws `config-invalid`. */
function configVariables(text) {
    return parseBlocks(text).flatMap((block) => block.variables);
}
/** All values of `section[.subsection].name` (section and name in lower case), in the file's order. */
function configValues(text, section, subsection, name) {
    return configVariables(text)
        .filter((entry) => entry.section === section && entry.subsection === subsection && entry.name === name)
        .map((entry) => entry.value);
}
/** The text without the variables that `match` names; a section that is emptied by this goes too. */
function removeVariables(text, match) {
    const cuts = [];
    for (const block of parseBlocks(text)) {
        const matched = block.variables.filter(match);
        if (matched.length === 0)
            continue;
        if (matched.length === block.variables.length && !block.hasComment)
            cuts.push([block.start, block.end]);
        else
            for (const entry of matched)
                cuts.push([entry.start, entry.end]);
    }
    return cut(text, cuts);
}
/** The text without the sections that `match` names. */
function removeSections(text, match) {
    const matched = parseBlocks(text).filter((block) => match(block.section, block.subsection));
    return cut(text, matched.map((block) => [block.start, block.end]));
}
function cut(text, cuts) {
    let result = '';
    let from = 0;
    for (const [start, end] of cuts) {
        result += text.slice(from, start);
        from = end;
    }
    return result + text.slice(from);
}
function quote(value) {
    const escapes = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t', '\b': '\\b' };
    const escaped = toLatin1(value).replace(/[\\"\n\t\b]/g, (character) => escapes[character]);
    // Quotes keep blanks at the ends and comment characters.
    return /^[^\s#;"]*$/.test(escaped) ? escaped : `"${escaped}"`;
}
/** A section as text. A value is written so that git reads back the same; a NUL or a newline in a subsection cannot be. */
function formatSection(section) {
    const { subsection } = section;
    if (subsection !== null && /[\n\0]/.test(subsection)) {
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd('config-invalid', 'a name with a line break cannot be written to a git configuration');
    }
    const name = subsection === null ? '' : ` "${toLatin1(subsection).replace(/["\\]/g, '\\$&')}"`;
    const lines = section.variables.map(([key, value]) => `\t${key} = ${quote(value)}\n`);
    return `[${section.section}${name}]\n${lines.join('')}`;
}
/** The text with sections added at its end. */
function appendSections(text, sections) {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    return text + gap + sections.map(formatSection).join('');
}
/** The file's text, or null where there is no such file. */
function readConfigFile(path) {
    try {
        return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(path, 'latin1');
    }
    catch (error) {
        const errno = (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .errnoOf */ .UQ)(error);
        if (errno === 'ENOENT' || errno === 'ENOTDIR')
            return null;
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .ioError */ .bD)('read', path, error);
    }
}
/**
 * Replaces the file's text as git does: through `<file>.lock`, so that a git process at work on it is not overrun. Does
 * nothing if the file is missing or `edit` changes nothing. Throws `config-invalid` (with the path) and `io`.
 */
function editConfigFile(path, edit) {
    const before = readConfigFile(path);
    if (before === null)
        return;
    let after;
    try {
        after = edit(before);
    }
    catch (error) {
        if (!(error instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd))
            throw error;
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd(error.code, `${error.message} in '${path}'`, { path }, error);
    }
    if (after === before)
        return;
    let lock = `${path}.lock`;
    try {
        const target = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.realpathSync)(path);
        lock = `${target}.lock`;
        const mode = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(target).mode & 0o777;
        const descriptor = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.openSync)(lock, 'wx', mode);
        try {
            const bytes = Buffer.from(after, 'latin1');
            for (let written = 0; written < bytes.length;)
                written += (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.writeSync)(descriptor, bytes, written);
        }
        catch (error) {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(lock, { force: true });
            throw error;
        }
        finally {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.closeSync)(descriptor);
        }
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.chmodSync)(lock, mode); // openSync applied the umask
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.renameSync)(lock, target);
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .ioError */ .bD)('write', (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .errnoOf */ .UQ)(error) === 'EEXIST' ? lock : path, error);
    }
}


/***/ }),

/***/ 9447:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   A3: () => (/* binding */ writeCredentialsFile),
/* harmony export */   FI: () => (/* binding */ credentialEnvironment),
/* harmony export */   Nf: () => (/* binding */ includeCredentials),
/* harmony export */   gp: () => (/* binding */ basicCredential),
/* harmony export */   tm: () => (/* binding */ removeCredentials),
/* harmony export */   yV: () => (/* binding */ newCredentialsPath)
/* harmony export */ });
/* unused harmony exports includeSections, withoutCredentials */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(7598);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(6760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(390);
/* harmony import */ var _config_file_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(1658);
/**
 * The token: where git finds it, and how every trace of it goes again.
 *
 * With `persist-credentials` it lies in a file of its own in RUNNER_TEMP, which the repository's configuration includes
 * under four conditions: the git directory and its worktrees, each as the runner sees it and as a container action does
 * (the runner mounts the workspace at /github/workspace there). File name and keys are those of actions/checkout, whose
 * own clean-up relies on them, as ours does on its. Without it the token is in the environment of our own git processes
 * that talk to the server, and nowhere else.
 */





/** What the token becomes in the header; a secret as much as the token itself. */
function basicCredential(token) {
    return Buffer.from(`x-access-token:${token}`, 'utf8').toString('base64');
}
function authorization(token) {
    return `AUTHORIZATION: basic ${basicCredential(token)}`;
}
/**
 * The environment that makes one git process send the token to `origin` alone (git-config(1), GIT_CONFIG_COUNT; git 2.31
 * or newer). Keys that the environment has already are kept.
 */
function credentialEnvironment(origin, token, environment) {
    const count = Number.parseInt(environment['GIT_CONFIG_COUNT'] ?? '', 10);
    const at = count > 0 ? count : 0;
    return {
        GIT_CONFIG_COUNT: String(at + 1),
        [`GIT_CONFIG_KEY_${at}`]: `http.${origin}/.extraheader`,
        [`GIT_CONFIG_VALUE_${at}`]: authorization(token),
    };
}
/** A new path for a token file. */
function newCredentialsPath(runnerTemp) {
    return (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(runnerTemp, `git-credentials-${(0,node_crypto__WEBPACK_IMPORTED_MODULE_1__.randomUUID)()}.config`);
}
const CREDENTIALS_FILE = /(?:^|[/\\])git-credentials-[0-9a-f-]+\.config$/i;
/** The token file, readable by its owner only. Throws `io`. */
function writeCredentialsFile(path, origin, token) {
    const section = {
        section: 'http',
        subsection: `${origin}/`,
        variables: [['extraheader', authorization(token)]],
    };
    try {
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.writeFileSync)(path, (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .formatSection */ .$R)(section), { mode: 0o600, flag: 'wx' });
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .ioError */ .bD)('write', path, error);
    }
}
/** A path as a `gitdir:` condition: forward slashes, and no character that its pattern would take for a wildcard. */
function gitdirPattern(path) {
    return path
        .split(node_path__WEBPACK_IMPORTED_MODULE_2__.sep)
        .join('/')
        .replace(/[*?[\\]/g, '\\$&');
}
/** The four conditional includes (six where the path has a link in it, since git compares real paths first). */
function includeSections(workspace, repositoryPath, credentialsPath) {
    const include = (condition, path) => ({
        section: 'includeIf',
        subsection: `gitdir:${condition}`,
        variables: [['path', path]],
    });
    const both = (gitDir, path) => [
        include(gitDir, path),
        include(`${gitDir}/worktrees/*`, path),
    ];
    const here = gitdirPattern((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(repositoryPath, '.git'));
    const sections = both(here, credentialsPath);
    const real = gitdirPattern((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(realPathOf(repositoryPath), '.git'));
    if (real !== here)
        sections.push(...both(real, credentialsPath));
    const inside = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.relative)(workspace, repositoryPath).split(node_path__WEBPACK_IMPORTED_MODULE_2__.sep).join('/');
    const container = gitdirPattern(node_path__WEBPACK_IMPORTED_MODULE_2__.posix.join('/github/workspace', inside, '.git'));
    sections.push(...both(container, node_path__WEBPACK_IMPORTED_MODULE_2__.posix.join('/github/runner_temp', (0,node_path__WEBPACK_IMPORTED_MODULE_2__.basename)(credentialsPath))));
    return sections;
}
function realPathOf(path) {
    try {
        return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.realpathSync)(path);
    }
    catch {
        return path;
    }
}
/** Whether this variable is one that a checkout step, ours or actions/checkout 2 to 7, left to authenticate with. */
function isCredential(variable, origins) {
    const { section, subsection, name, value } = variable;
    if (section === 'includeif') {
        return (subsection !== null &&
            subsection.startsWith('gitdir:') &&
            name === 'path' &&
            value !== null &&
            CREDENTIALS_FILE.test(value));
    }
    // Before version 6 of actions/checkout the header itself stood in the configuration.
    if (section === 'http') {
        return subsection !== null && name === 'extraheader' && origins.includes(subsection.replace(/\/$/, ''));
    }
    return section === 'core' && subsection === null && name === 'sshcommand';
}
/** The configuration text without credentials, and the token files that it included. */
function withoutCredentials(text, origins) {
    const files = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .configVariables */ .sz)(text)
        .filter((variable) => variable.section === 'includeif' && isCredential(variable, origins))
        .map((variable) => variable.value);
    return { text: (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .removeVariables */ .Qw)(text, (variable) => isCredential(variable, origins)), files };
}
/** The configuration files of a repository and of the submodules within its git directory. */
function configFiles(gitDir) {
    const files = [(0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(gitDir, 'config')];
    const walk = (directory, depth) => {
        if (depth > 64)
            return;
        let entries;
        try {
            entries = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(directory, { withFileTypes: true });
        }
        catch (error) {
            if ((0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .errnoOf */ .UQ)(error) === 'ENOENT' || (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .errnoOf */ .UQ)(error) === 'ENOTDIR')
                return;
            throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .ioError */ .bD)('read', directory, error);
        }
        const isGitDir = entries.some((entry) => entry.name === 'HEAD' && entry.isFile());
        if (isGitDir) {
            files.push((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(directory, 'config'));
            walk((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(directory, 'modules'), depth + 1);
            return;
        }
        // A submodule's name may have slashes in it.
        for (const entry of entries)
            if (entry.isDirectory())
                walk((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(directory, entry.name), depth + 1);
    };
    walk((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(gitDir, 'modules'), 0);
    return files;
}
/**
 * Removes every credential that a checkout step left, without a git process. Goes on after a failure, so that one file
 * that cannot be edited does not leave a token behind in another; returns the failures.
 */
function removeCredentials(traces) {
    const failures = [];
    const attempt = (work) => {
        try {
            work();
        }
        catch (error) {
            failures.push(error instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd ? error : (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .ioError */ .bD)('clean up', traces.gitDir, error));
        }
    };
    const tokenFiles = new Set();
    if (traces.credentialsPath !== undefined)
        tokenFiles.add((0,node_path__WEBPACK_IMPORTED_MODULE_2__.resolve)(traces.credentialsPath));
    let configs = [];
    attempt(() => {
        configs = configFiles(traces.gitDir);
    });
    for (const config of configs) {
        attempt(() => {
            (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .editConfigFile */ .T3)(config, (text) => {
                const found = withoutCredentials(text, traces.origins);
                for (const file of found.files)
                    tokenFiles.add((0,node_path__WEBPACK_IMPORTED_MODULE_2__.resolve)(file));
                return found.text;
            });
        });
    }
    if (traces.runnerTemp === '')
        return failures;
    const inside = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.resolve)(traces.runnerTemp) + node_path__WEBPACK_IMPORTED_MODULE_2__.sep;
    for (const file of tokenFiles) {
        // The configuration is not ours alone: only what lies in RUNNER_TEMP under a token file's name is removed. The
        // container's name for the same file falls out here.
        if (!file.startsWith(inside) || !CREDENTIALS_FILE.test(file))
            continue;
        attempt(() => {
            try {
                (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(file, { force: true });
            }
            catch (error) {
                throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .ioError */ .bD)('remove', file, error);
            }
        });
    }
    return failures;
}
/** Makes git in this repository use the token file. */
function includeCredentials(gitDir, workspace, repositoryPath, credentialsPath) {
    const config = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(gitDir, 'config');
    if ((0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .readConfigFile */ .RG)(config) === null) {
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('not-a-repository', `'${gitDir}' has no configuration file`, { path: gitDir });
    }
    (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .editConfigFile */ .T3)(config, (text) => (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .appendSections */ .bN)(text, includeSections(workspace, repositoryPath, credentialsPath)));
}


/***/ }),

/***/ 4177:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   J: () => (/* binding */ refuseUnsafePullRequestCheckout)
/* harmony export */ });
/* unused harmony export unsafePullRequestCheckout */
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(390);
/**
 * Refuses to check out a fork's pull request in a privileged workflow. `pull_request_target` and `workflow_run` run with
 * the base repository's secrets and a token that may write; a job that checks out the fork's code there and then builds
 * or tests it hands both to whoever opened the pull request ("pwn request").
 *
 * The rules are those of actions/checkout 7.0.1, which differ from 7.0.0 in exempting the default checkout. Only what the
 * event's payload names can be recognised: an older commit of the same pull request, given by its id, is not.
 */

const PULL_REF = /^refs\/pull\/[0-9]+\/(?:head|merge)$/;
/** A member of a value of unknown shape. */
function member(value, ...names) {
    let current = value;
    for (const name of names) {
        if (typeof current !== 'object' || current === null)
            return undefined;
        current = current[name];
    }
    return current;
}
/** The pull request's side of the event, or null for events that the guard does not concern. */
function headOf(eventName, event) {
    if (eventName === 'pull_request_target') {
        const pull = member(event, 'pull_request');
        return {
            repositoryId: member(pull, 'head', 'repo', 'id'),
            repositoryName: member(pull, 'head', 'repo', 'full_name'),
            commits: [member(pull, 'head', 'sha'), member(pull, 'merge_commit_sha')],
        };
    }
    if (eventName === 'workflow_run') {
        const run = member(event, 'workflow_run');
        const cause = member(run, 'event');
        if (typeof cause !== 'string' || !cause.startsWith('pull_request'))
            return null;
        const commits = [member(run, 'head_commit', 'id')];
        // Under pull_request_target head_sha is the base branch's commit, which is safe.
        if (cause !== 'pull_request_target')
            commits.push(member(run, 'head_sha'));
        return {
            repositoryId: member(run, 'head_repository', 'id'),
            repositoryName: member(run, 'head_repository', 'full_name'),
            commits,
        };
    }
    return null;
}
/** What makes this checkout unsafe, in a few words, or null if nothing does. */
function unsafePullRequestCheckout(facts) {
    if (facts.isWorkflowRepository && facts.refIsDefault)
        return null;
    if (facts.allowUnsafePrCheckout)
        return null;
    const head = headOf(facts.eventName, facts.event);
    if (head === null)
        return null;
    const baseId = member(facts.event, 'repository', 'id');
    if (typeof baseId !== 'number')
        return null;
    if (typeof head.repositoryId !== 'number' || head.repositoryId === baseId)
        return null;
    const { repositoryName } = head;
    if (typeof repositoryName === 'string' && repositoryName.toLowerCase() === facts.repository.toLowerCase()) {
        return `repository '${facts.repository}' is the fork that the pull request comes from`;
    }
    if (PULL_REF.test(facts.ref))
        return `ref '${facts.ref}' is a pull request of a fork`;
    const commit = facts.commit.toLowerCase();
    const known = head.commits.filter((sha) => typeof sha === 'string').map((sha) => sha.toLowerCase());
    if (commit !== '' && known.includes(commit))
        return `commit ${facts.commit} belongs to a pull request of a fork`;
    return null;
}
/** Throws the `usage` error that stops the step, before anything is touched. */
function refuseUnsafePullRequestCheckout(facts) {
    const reason = unsafePullRequestCheckout(facts);
    if (reason === null)
        return;
    throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .CheckoutError */ .vd('usage', `refusing to check out code of a fork in a '${facts.eventName}' workflow: ${reason}. Such a workflow has the base ` +
        `repository's token, secrets and caches, and code of a fork that runs in it can take them. ` +
        `See https://gh.io/securely-using-pull_request_target; if this job never runs what it checks out, ` +
        `set 'allow-unsafe-pr-checkout: true'`, { option: 'allow-unsafe-pr-checkout' });
}


/***/ }),

/***/ 7745:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   W2: () => (/* binding */ credentialEnvironmentHint),
/* harmony export */   _K: () => (/* binding */ gitEnvironment),
/* harmony export */   bZ: () => (/* binding */ loggedGit),
/* harmony export */   q_: () => (/* binding */ gitText),
/* harmony export */   tv: () => (/* binding */ gitFailure)
/* harmony export */ });
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(2488);
/* harmony import */ var _engine_engine_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(2621);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(390);
/* harmony import */ var _log_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(6872);
/**
 * Runs git for the step: the engine's process port, with the environment that git needs in a job, each command echoed into
 * the log. The process itself is started by the engine's own port, since @actions/exec cannot stop one: a cancelled job
 * would leave git at work, holding its locks.
 */




/** The environment of every git process, beside the job's own. */
function gitEnvironment(orchestrationId) {
    // Some servers and proxies know git by `git/` at the start.
    let agent = 'git/2 (parallel-checkout)';
    if (orchestrationId !== '')
        agent += ` actions_orchestration_id/${orchestrationId.replace(/[^A-Za-z0-9_.-]/g, '_')}`;
    return {
        GIT_TERMINAL_PROMPT: '0', // nobody is there to answer
        GCM_INTERACTIVE: 'Never', // the same for Git Credential Manager
        GIT_LFS_SKIP_SMUDGE: '1', // LFS content only where it is asked for
        GIT_HTTP_USER_AGENT: agent,
    };
}
/** A git port that runs in `cwd` unless told otherwise, with `environment`, stopped by `signal`. */
function loggedGit(cwd, environment, signal) {
    return async (call) => {
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_2__/* .info */ .pq)((0,_log_js__WEBPACK_IMPORTED_MODULE_3__/* .harmlessLine */ .Kw)(`[command]git ${call.args.join(' ')}`));
        return (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_0__/* .spawnGit */ .Iz)({
            ...call,
            cwd: call.cwd ?? cwd,
            env: { ...environment, ...call.env },
            signal: call.signal ?? signal,
            // Who asks for the lines shows them; of other calls there are few.
            onStderrLine: call.onStderrLine ?? _log_js__WEBPACK_IMPORTED_MODULE_3__/* .logLine */ .BP,
        });
    };
}
/** Standard output of a call that must succeed; `what` begins the message of its failure. Throws `git-failed` and kin. */
async function gitText(git, call, what) {
    const result = await git(call);
    if (result.exitCode !== 0)
        throw gitFailure(what, result);
    return result.stdout.toString('utf8');
}
/** The failure of a git process as one line: what was tried and the first thing that git called fatal. */
function gitFailure(what, result) {
    const lines = result.stderr.split(/[\r\n]+/).filter((line) => line.trim() !== '');
    const reason = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? 'git gave no reason';
    const code = /Authentication failed|could not read (?:Username|Password)|error: 40[13]\b/.test(result.stderr)
        ? 'authentication-failed'
        : 'git-failed';
    return new _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd(code, `${what}: ${(0,_log_js__WEBPACK_IMPORTED_MODULE_3__/* .harmlessLine */ .Kw)(reason)} (exit status ${result.exitCode})`);
}
/**
 * A refused token where it was given by the environment: git before 2.31 does not read it from there, which nobody would
 * guess from git's message. Returns the error to report instead.
 */
async function credentialEnvironmentHint(error) {
    if (!(error instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd) || error.code !== 'authentication-failed')
        return error;
    const result = await (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_0__/* .spawnGit */ .Iz)({ args: ['version'] });
    const version = /git version (\d+)\.(\d+)/.exec(result.stdout.toString('latin1'));
    if (version === null || Number(version[1]) > 2 || Number(version[2]) >= 31)
        return error;
    const hint = `git ${version[1]}.${version[2]} cannot take the token without storing it: use git 2.31 or newer, or 'persist-credentials: true'`;
    return new _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .CheckoutError */ .vd(error.code, `${error.message}; ${hint}`, error.subject, error);
}


/***/ }),

/***/ 9640:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   j: () => (/* binding */ readEvent),
/* harmony export */   s: () => (/* binding */ readSettings)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(6760);
/* harmony import */ var _engine_engine_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(2621);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(390);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(4604);
/**
 * Reads what the runner hands over (INPUT_*, GITHUB_*, the event file) into one complete value, once. Nothing else in the
 * action looks at the environment for a decision. An input that cannot be honoured stops the step here, by name, before
 * anything is touched.
 *
 * How odd values are read is that of actions/checkout, so that a workflow means the same with both; where such a reading
 * is likely a slip (a depth that is no number), a warning says so.
 */





/** An input as it stands, and without the blanks around it. */
function rawInput(environment, name) {
    return environment[`INPUT_${name.toUpperCase()}`] ?? '';
}
function input(environment, name) {
    return rawInput(environment, name).trim();
}
function refuse(name, why) {
    return new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('usage', `input '${name}' ${why}`, { option: name });
}
/** An input that must be given, with its value for the message left out: it may be a secret. */
function required(environment, name) {
    const value = input(environment, name);
    if (value === '')
        throw refuse(name, 'is required and was not given');
    return value;
}
/** A variable of the runner's that must be there. */
function runnerVariable(environment, name) {
    const value = environment[name] ?? '';
    if (value === '')
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('usage', `${name} is not defined: this must run as a step of a job`);
    return value;
}
/** `TRUE` in any case is true and everything else false; an empty input is `whenEmpty`. */
function flag(environment, name, whenEmpty, warnings) {
    const value = input(environment, name).toUpperCase();
    if (value === '')
        return whenEmpty;
    if (value !== 'TRUE' && value !== 'FALSE')
        warnings.push(`input '${name}' is neither true nor false; taken as false`);
    return value === 'TRUE';
}
/** For inputs that actions/checkout does not have, so that nothing has to be guessed. */
function strictFlag(environment, name, whenEmpty) {
    const value = input(environment, name).toUpperCase();
    if (value === '')
        return whenEmpty;
    if (value !== 'TRUE' && value !== 'FALSE')
        throw refuse(name, 'must be true or false');
    return value === 'TRUE';
}
/** Patterns with `clean: false` are no mistake: a workflow may set that by an expression. */
function cleanExclude(environment) {
    const text = rawInput(environment, 'clean-exclude');
    return text.trim() === '' ? [] : text.split('\n');
}
function fetchDepth(environment, warnings) {
    const text = input(environment, 'fetch-depth');
    if (text === '')
        return 1;
    const depth = Math.floor(Number(text));
    if (!Number.isFinite(depth) || depth < 0) {
        warnings.push(`input 'fetch-depth' is not a number of commits; all history is fetched`);
        return 0;
    }
    return Math.min(depth, 0x7fffffff); // git's own "no limit"; a larger number is an error to it
}
function sparseSetting(environment, warnings) {
    const cone = flag(environment, 'sparse-checkout-cone-mode', true, warnings);
    const lines = input(environment, 'sparse-checkout').split('\n');
    const patterns = lines.map((line) => line.trim()).filter((line) => line !== '');
    return patterns.length === 0 ? { kind: 'off' } : (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseSparseSetting */ .UZ)(patterns, cone, 'sparse-checkout');
}
/** A sparse checkout needs few of the files, so that it fetches them by name, unless another filter is asked for. */
function objectFilter(environment, sparse) {
    const filter = input(environment, 'filter');
    if (filter !== '')
        return filter;
    return sparse.kind === 'off' ? null : 'blob:none';
}
/** Stops at inputs that are declared for compatibility and do nothing yet, if they ask for something. */
function refuseInputsNotBuilt(environment) {
    const given = (name) => input(environment, name) !== '';
    const upper = (name) => input(environment, name).toUpperCase();
    const asked = [
        ['ssh-key', given('ssh-key')],
        ['ssh-known-hosts', given('ssh-known-hosts')],
        ['ssh-strict', given('ssh-strict') && upper('ssh-strict') !== 'TRUE'],
        ['ssh-user', given('ssh-user') && input(environment, 'ssh-user') !== 'git'],
        ['lfs', given('lfs') && upper('lfs') !== 'FALSE'],
        ['submodules', given('submodules') && upper('submodules') !== 'FALSE'],
    ];
    for (const [name, isAsked] of asked) {
        if (isAsked)
            throw refuse(name, 'is not supported yet; this version works only with its default');
    }
}
function repository(environment) {
    const text = input(environment, 'repository') || (environment['GITHUB_REPOSITORY'] ?? '');
    const parts = text.split('/');
    const [owner, name] = parts;
    if (parts.length !== 2 || owner === undefined || name === undefined || owner === '' || name === '') {
        throw refuse('repository', `must be 'owner/name', not '${text}'`);
    }
    return { owner, name };
}
function serverOrigin(environment) {
    const given = input(environment, 'github-server-url');
    const text = given || (environment['GITHUB_SERVER_URL'] ?? '') || 'https://github.com';
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol)) {
        throw refuse('github-server-url', `must be an http or https address, not '${text}'`);
    }
    return url.origin;
}
function directory(environment, name) {
    const path = runnerVariable(environment, name);
    if (!(0,node_path__WEBPACK_IMPORTED_MODULE_1__.isAbsolute)(path))
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('usage', `${name} must be an absolute path, not '${path}'`, { path });
    const stats = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true)
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('usage', `${name} '${path}' is not a directory`, { path });
    return (0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(path);
}
/** The path input, within the workspace. As in actions/checkout links are not followed for this test. */
function repositoryPath(environment, workspace) {
    const path = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(workspace, input(environment, 'path') || '.');
    const inside = workspace.endsWith(node_path__WEBPACK_IMPORTED_MODULE_1__.sep) ? workspace : workspace + node_path__WEBPACK_IMPORTED_MODULE_1__.sep;
    if (path !== workspace && !path.startsWith(inside)) {
        throw refuse('path', `must lie within the workspace: '${path}' is not under '${workspace}'`);
    }
    return path;
}
/** The event's payload; an empty object where there is none. */
function readEvent(environment) {
    const path = environment['GITHUB_EVENT_PATH'] ?? '';
    if (path === '')
        return {};
    try {
        return JSON.parse((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(path, 'utf8'));
    }
    catch (error) {
        // Not every runner writes one.
        if ((0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .errnoOf */ .UQ)(error) === 'ENOENT')
            return {};
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('usage', `the event file '${path}' (GITHUB_EVENT_PATH) cannot be read`, { path }, error);
    }
}
/**
 * The whole of the settings, or a `usage` error that names the input. Looks at the file system for the two directories of
 * the runner only.
 */
function readSettings(environment, event) {
    const warnings = [];
    refuseInputsNotBuilt(environment);
    const workspace = directory(environment, 'GITHUB_WORKSPACE');
    const runnerTemp = directory(environment, 'RUNNER_TEMP');
    const { owner, name } = repository(environment);
    const qualified = `${owner}/${name}`;
    const isWorkflowRepository = qualified.toUpperCase() === (environment['GITHUB_REPOSITORY'] ?? '').toUpperCase();
    // Only ASCII blanks are taken off: a commit id behind a byte order mark or a wide blank would otherwise be a commit to
    // this code and a ref to the fork guard, or the other way round.
    const given = rawInput(environment, 'ref').replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
    let ref = given;
    let commit = '';
    if (given === '') {
        if (isWorkflowRepository) {
            ref = environment['GITHUB_REF'] ?? '';
            commit = environment['GITHUB_SHA'] ?? '';
            // Some events (a closed pull request) have a short name there.
            if (commit !== '' && ref !== '' && !/^refs\//i.test(ref))
                ref = `refs/heads/${ref}`;
            if (commit !== '' && !(0,_ref_js__WEBPACK_IMPORTED_MODULE_4__/* .isObjectId */ .TS)(commit)) {
                throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .CheckoutError */ .vd('usage', `GITHUB_SHA is not a commit id: '${commit}'`);
            }
        }
    }
    else if ((0,_ref_js__WEBPACK_IMPORTED_MODULE_4__/* .isObjectId */ .TS)(given)) {
        ref = '';
        commit = given;
    }
    const form = ref === '' && commit === '' ? null : (0,_ref_js__WEBPACK_IMPORTED_MODULE_4__/* .refForm */ .Gs)(ref, commit);
    const transport = (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseTransportChoice */ .q1)(input(environment, 'transport') || 'auto', 'transport');
    if (transport === 'stream')
        throw refuse('transport', `'stream' is not supported yet; use auto or git`);
    const origin = serverOrigin(environment);
    const sparse = sparseSetting(environment, warnings);
    return {
        workspace,
        runnerTemp,
        repositoryPath: repositoryPath(environment, workspace),
        owner,
        name,
        serverOrigin: origin,
        url: `${origin}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`,
        form,
        ref,
        token: required(environment, 'token'),
        persistCredentials: flag(environment, 'persist-credentials', false, warnings),
        clean: flag(environment, 'clean', true, warnings),
        sparse,
        filter: objectFilter(environment, sparse),
        cleanExclude: cleanExclude(environment),
        fetchDepth: fetchDepth(environment, warnings),
        fetchTags: flag(environment, 'fetch-tags', false, warnings),
        showProgress: flag(environment, 'show-progress', true, warnings),
        setSafeDirectory: flag(environment, 'set-safe-directory', true, warnings),
        workers: (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseWorkers */ .jO)(input(environment, 'workers') || 'auto', 'workers'),
        memoryLimitBytes: (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseMemoryLimit */ .Ik)(input(environment, 'memory-limit') || 'auto', 'memory-limit'),
        engine: (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseEngineChoice */ .xC)(input(environment, 'engine') || 'auto', 'engine'),
        verify: strictFlag(environment, 'verify', false),
        transport,
        annotations: strictFlag(environment, 'annotations', true),
        summary: strictFlag(environment, 'summary', true),
        orchestrationId: environment['ACTIONS_ORCHESTRATION_ID'] ?? '',
        guard: {
            eventName: environment['GITHUB_EVENT_NAME'] ?? '',
            event,
            repository: qualified,
            isWorkflowRepository,
            ref: given === '' || (0,_ref_js__WEBPACK_IMPORTED_MODULE_4__/* .isObjectId */ .TS)(given) ? '' : given,
            commit: (0,_ref_js__WEBPACK_IMPORTED_MODULE_4__/* .isObjectId */ .TS)(given) ? given : '',
            refIsDefault: given === '',
            allowUnsafePrCheckout: flag(environment, 'allow-unsafe-pr-checkout', false, warnings),
        },
        warnings,
    };
}


/***/ }),

/***/ 6872:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  Kw: () => (/* binding */ harmlessLine),
  QT: () => (/* binding */ logGroup),
  BP: () => (/* binding */ logLine),
  JH: () => (/* binding */ logObserver)
});

// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(2488);
// EXTERNAL MODULE: ./build/js/engine/report/format.js
var format = __nccwpck_require__(8093);
;// CONCATENATED MODULE: ./build/js/engine/report/progress.js

/** Shortest time between two texts, on a terminal and in a log. */
const LIVE_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 5000;
/** The rate is that of the last few seconds: long enough to be calm, short enough to show a stall. */
const RATE_WINDOW_MS = 3000;
/** Back to the line's start and erase to its end (ECMA-48 EL). */
const ERASE_LINE = '\r\u001b[K';
/** Used where a terminal does not tell its width. */
const DEFAULT_COLUMNS = 80;
/** Turns progress into texts to write, at most so many a second. Time is an argument: milliseconds that only go up. */
class ProgressMeter {
    #style;
    #lastTextMs;
    #phase;
    #samples = [];
    #shown = false;
    constructor(style, startMs) {
        this.#style = style;
        // A live line may come at once, a line of a log only after the first interval.
        this.#lastTextMs = style.live ? -Infinity : startMs;
    }
    /** What to write now: a text that rewrites the live line, or a line for the log without its break; '' for nothing. */
    update(progress, nowMs) {
        if (progress.phase !== this.#phase) {
            this.#phase = progress.phase;
            this.#samples = [];
        }
        const interval = this.#style.live ? LIVE_INTERVAL_MS : LOG_INTERVAL_MS;
        const last = this.#samples.at(-1);
        // Samples as often as live texts are enough for the rate, and bound their number.
        if (last === undefined || nowMs - last.ms >= LIVE_INTERVAL_MS)
            this.#sample({ ms: nowMs, bytes: progress.bytesDone });
        if (nowMs - this.#lastTextMs < interval)
            return '';
        this.#lastTextMs = nowMs;
        const line = formatProgress(progress, this.#rate(progress, nowMs));
        if (!this.#style.live)
            return line;
        this.#shown = true;
        // The last column stays free: some terminals wrap when it is written.
        return ERASE_LINE + line.slice(0, Math.max(0, (this.#style.columns?.() || DEFAULT_COLUMNS) - 1));
    }
    /** What removes the live line, before another line or at the end; '' when none is shown. */
    clear() {
        if (!this.#shown)
            return '';
        this.#shown = false;
        return ERASE_LINE;
    }
    #sample(sample) {
        this.#samples.push(sample);
        while (this.#samples.length > 2 && this.#samples[1].ms <= sample.ms - RATE_WINDOW_MS)
            this.#samples.shift();
    }
    #rate(progress, nowMs) {
        const first = this.#samples[0];
        if (first === undefined || nowMs <= first.ms)
            return null;
        return (Math.max(0, progress.bytesDone - first.bytes) * 1000) / (nowMs - first.ms);
    }
}
/** 'write: 12,345 of 86,691 files (14%), 410 MB, 520 MB/s'. What is not known is left out. */
function formatProgress(progress, bytesPerSecond) {
    const { phase, filesDone, filesTotal, bytesDone } = progress;
    const parts = [];
    if (filesTotal > 0) {
        const percent = Math.min(100, Math.floor((100 * filesDone) / filesTotal));
        parts.push(`${(0,format/* formatCount */.B4)(filesDone)} of ${(0,format/* plural */.LS)(filesTotal, 'file')} (${percent}%)`);
    }
    else if (filesDone > 0) {
        parts.push((0,format/* plural */.LS)(filesDone, 'file'));
    }
    parts.push((0,format/* formatBytes */.z3)(bytesDone));
    if (bytesPerSecond !== null)
        parts.push((0,format/* formatRate */.CE)(bytesPerSecond));
    return `${phase}: ${parts.join(', ')}`;
}

;// CONCATENATED MODULE: ./build/js/action/log.js
/**
 * The job log. The runner acts on lines that look like its commands, wherever they come from, and what git prints is in
 * part written by others (server messages, branch and file names); so a foreign line is made harmless before it is
 * printed.
 */


/**
 * One line that the runner prints and does not act on. `::name` counts at the start of a line and `##[name]` anywhere
 * (actions/runner, ActionCommand.cs).
 */
function harmlessLine(line) {
    // eslint-disable-next-line no-control-regex -- control characters are what is replaced
    const visible = line.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/g, ' ').replaceAll('##[', '# #[');
    return /^\s*::/.test(visible) ? `> ${visible.trimStart()}` : visible;
}
/** Prints one line. */
function logLine(line) {
    (0,core/* info */.pq)(harmlessLine(line));
}
/** Runs `work` inside a foldable group of the log. */
async function logGroup(name, work) {
    (0,core/* startGroup */.Oh)(harmlessLine(name));
    try {
        return await work();
    }
    finally {
        (0,core/* endGroup */.N4)();
    }
}
/** What the engine tells, in the log; progress only if it is wanted. */
function logObserver(showProgress) {
    const meter = new ProgressMeter({ live: false }, performance.now());
    return {
        info: logLine,
        warning: (line) => (0,core/* warning */.$e)(line),
        progress(progress) {
            if (!showProgress)
                return;
            const line = meter.update(progress, performance.now());
            if (line !== '')
                logLine(line);
        },
    };
}


/***/ }),

/***/ 2764:
/***/ ((__webpack_module__, __unused_webpack___webpack_exports__, __nccwpck_require__) => {

__nccwpck_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/* harmony import */ var node_os__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(8161);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(6760);
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_15__ = __nccwpck_require__(2488);
/* harmony import */ var _engine_engine_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(2621);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(390);
/* harmony import */ var _annotations_js__WEBPACK_IMPORTED_MODULE_18__ = __nccwpck_require__(2787);
/* harmony import */ var _credentials_js__WEBPACK_IMPORTED_MODULE_5__ = __nccwpck_require__(9447);
/* harmony import */ var _fork_guard_js__WEBPACK_IMPORTED_MODULE_6__ = __nccwpck_require__(4177);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_7__ = __nccwpck_require__(7745);
/* harmony import */ var _inputs_js__WEBPACK_IMPORTED_MODULE_8__ = __nccwpck_require__(9640);
/* harmony import */ var _log_js__WEBPACK_IMPORTED_MODULE_16__ = __nccwpck_require__(6872);
/* harmony import */ var _outputs_js__WEBPACK_IMPORTED_MODULE_9__ = __nccwpck_require__(8741);
/* harmony import */ var _prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__ = __nccwpck_require__(2096);
/* harmony import */ var _problem_matcher_js__WEBPACK_IMPORTED_MODULE_11__ = __nccwpck_require__(5413);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_12__ = __nccwpck_require__(4604);
/* harmony import */ var _remote_js__WEBPACK_IMPORTED_MODULE_13__ = __nccwpck_require__(3731);
/* harmony import */ var _safe_directory_js__WEBPACK_IMPORTED_MODULE_14__ = __nccwpck_require__(9418);
/* harmony import */ var _state_js__WEBPACK_IMPORTED_MODULE_17__ = __nccwpck_require__(4480);
/* harmony import */ var _summary_js__WEBPACK_IMPORTED_MODULE_19__ = __nccwpck_require__(2034);
/**
 * The step: reads the inputs, has the engine fetch and check out, publishes what came of it. The order of the stages is
 * here, and so is the exit code; nothing else in the action sets it.
 */




















/** A reused repository turned out not to be usable. */
class Unusable extends Error {
}
/** Failures of a reused repository that a new one would not have. */
const GONE_WITH_A_NEW_REPOSITORY = new Set([
    'object-missing',
    'object-corrupt',
    'tree-invalid',
    'index-corrupt',
    'clean-failed',
]);
function isGoneWithANewRepository({ code, subject }) {
    // A file that could not be written names a blob if that was the reason, rather than the disk.
    return GONE_WITH_A_NEW_REPOSITORY.has(code) || (code === 'write-failed' && subject.oid !== undefined);
}
/** Removes what a reused directory holds, or finds it usable. True if there is an earlier checkout to build on. */
async function prepareDirectory(step) {
    const { settings, git, gitDir } = step;
    const { repositoryPath } = settings;
    if (!(0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .makeDirectory */ .Oh)(repositoryPath) || (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(repositoryPath).length === 0)
        return false;
    const unusable = await (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .reuseRepository */ .j6)({ repositoryPath, url: settings.url, form: settings.form, git });
    const failures = (0,_credentials_js__WEBPACK_IMPORTED_MODULE_5__/* .removeCredentials */ .tm)({ gitDir, runnerTemp: settings.runnerTemp, origins: step.origins });
    if (unusable === null && failures.length === 0)
        return true;
    const reason = unusable?.reason ?? failures[0].message;
    discard(step, reason, unusable?.expected !== true || !settings.clean);
    return false;
}
function discard(step, reason, asWarning) {
    const line = `The contents of '${step.settings.repositoryPath}' are removed, since ${reason}`;
    if (asWarning)
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .warning */ .$e)((0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .harmlessLine */ .Kw)(line));
    else
        (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logLine */ .BP)(line);
    (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .emptyDirectory */ .hK)(step.settings.repositoryPath);
}
/** The repository with its remote and, if it is to be persisted, the token. */
async function setUpRepository(step, reused, objectFormat) {
    const { settings, gitDir, credentialsPath } = step;
    // Only the length of a commit id tells beforehand that a repository is SHA-256.
    const commit = settings.form !== null && 'commit' in settings.form ? settings.form.commit : '';
    const format = objectFormat ?? (commit.length === 64 ? 'sha256' : 'sha1');
    if (!reused)
        await (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .initRepository */ .zY)(step.git, settings.repositoryPath, format);
    (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .configureRepository */ .Bl)(gitDir, settings.url);
    if (credentialsPath !== null) {
        (0,_credentials_js__WEBPACK_IMPORTED_MODULE_5__/* .includeCredentials */ .Nf)(gitDir, settings.workspace, settings.repositoryPath, credentialsPath);
    }
}
/** Whether the ref is where the event says; refs move between an event and its job. */
async function passesRefTest(step, form) {
    const test = (0,_ref_js__WEBPACK_IMPORTED_MODULE_12__/* .refTest */ .My)(form, step.settings.fetchDepth);
    if (test === null)
        return true;
    const result = await step.git({ args: ['rev-parse', '--verify', '--quiet', test.revision] });
    if (result.exitCode !== 0)
        return false;
    return test.expected === null || result.stdout.toString('latin1').trim() === test.expected.toLowerCase();
}
async function fetchCommits(step) {
    const { settings, git, gitDir, ports, serverEnvironment: env } = step;
    const { fetchDepth: depth } = settings;
    const form = settings.form ?? (await (0,_remote_js__WEBPACK_IMPORTED_MODULE_13__/* .lookUpDefaultBranch */ .Ku)(git, env));
    const ref = settings.form === null && form.kind === 'branch' ? `refs/heads/${form.name}` : settings.ref;
    let remote = form.kind === 'unqualified' && depth > 0 ? await (0,_remote_js__WEBPACK_IMPORTED_MODULE_13__/* .lookUpRemoteName */ .E4)(git, env, form.name) : undefined;
    const request = {
        directory: settings.repositoryPath,
        remote: 'origin',
        tags: false,
        prune: true,
        progress: settings.showProgress,
        ...(settings.filter === null ? {} : { filter: settings.filter }),
        transport: settings.transport,
        env,
        signal: step.signal,
    };
    const shallow = depth === 0 && (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(gitDir, 'shallow'));
    let outcome = await (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_3__/* .fetch */ .hd)({
        ...request,
        refspecs: (0,_ref_js__WEBPACK_IMPORTED_MODULE_12__/* .refspecs */ .IE)(form, { depth, tags: settings.fetchTags }, remote),
        ...(depth > 0 ? { depth } : {}),
        ...(shallow ? { unshallow: true } : {}),
    }, ports);
    if (form.kind === 'unqualified')
        remote ??= await (0,_remote_js__WEBPACK_IMPORTED_MODULE_13__/* .lookUpFetchedName */ .f)(git, form.name);
    if (!(await passesRefTest(step, form))) {
        if (depth === 0) {
            // The branch has moved on, or is gone: the commit itself may still be had.
            const again = await (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_3__/* .fetch */ .hd)({ ...request, refspecs: (0,_ref_js__WEBPACK_IMPORTED_MODULE_12__/* .exactRefspecs */ .X4)(form) }, ports);
            outcome = { ...again, ms: outcome.ms + again.ms };
        }
        if (depth > 0 || !(await passesRefTest(step, form))) {
            const what = form.kind === 'commit' ? `commit ${form.commit}` : `'${ref}'`;
            const expected = form.kind === 'commit' ? 'was not found' : 'no longer points at the commit of the event';
            throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_4__/* .CheckoutError */ .vd('unknown-revision', `${what} ${expected}`, { option: 'ref' });
        }
    }
    return { form, ref, remote, outcome };
}
/** Fetches and checks out, once. Throws Unusable if a reused repository has to go first. */
async function bringAndCheckOut(step, reused) {
    const { settings } = step;
    const fetched = await (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logGroup */ .QT)('Fetching', () => fetchCommits(step));
    const report = await (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logGroup */ .QT)('Checking out', () => (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_3__/* .checkout */ .Pt)({
        directory: settings.repositoryPath,
        target: (0,_ref_js__WEBPACK_IMPORTED_MODULE_12__/* .checkoutTarget */ .uG)(fetched.form, fetched.remote),
        sparse: settings.sparse,
        ...(reused && settings.clean ? { clean: { exclude: settings.cleanExclude } } : {}),
        workers: settings.workers,
        memoryLimitBytes: settings.memoryLimitBytes,
        engine: settings.engine,
        verify: settings.verify,
        transport: settings.transport,
        config: [],
        environment: step.environment,
        fetchEnv: step.serverEnvironment,
        signal: step.signal,
    }, step.ports, fetched.outcome));
    const { error } = report;
    if (error !== undefined && reused && settings.clean && isGoneWithANewRepository(error)) {
        throw new Unusable(error.message);
    }
    return { report, ref: fetched.ref };
}
async function work(step) {
    const { settings, credentialsPath } = step;
    const setUp = async (reused) => {
        await setUpRepository(step, reused);
        return reused;
    };
    (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logLine */ .BP)(`Checking out ${settings.owner}/${settings.name} from ${settings.serverOrigin}`);
    const reused = await (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logGroup */ .QT)('Preparing the directory', async () => {
        const usable = await prepareDirectory(step);
        if (credentialsPath !== null)
            (0,_credentials_js__WEBPACK_IMPORTED_MODULE_5__/* .writeCredentialsFile */ .A3)(credentialsPath, settings.serverOrigin, settings.token);
        return setUp(usable);
    });
    try {
        return await bringAndCheckOut(step, reused);
    }
    catch (error) {
        const objectFormat = reused ? null : (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_3__/* .formatThatRemoteHas */ .n8)(error);
        if (objectFormat !== null) {
            // Asking beforehand would cost every job a round trip, for a format that is rare.
            (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logLine */ .BP)(`The repository names its objects by ${objectFormat.name}: it is made anew.`);
            (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .emptyDirectory */ .hK)(settings.repositoryPath);
            await setUpRepository(step, false, objectFormat.name);
            return bringAndCheckOut(step, false);
        }
        if (!(error instanceof Unusable))
            throw error;
        discard(step, error.message, true);
        return bringAndCheckOut(step, await setUp(false));
    }
}
/** For clean-up, which must neither fail the step nor hide why it failed. */
function warnOfFailure(cleanUp) {
    try {
        cleanUp();
    }
    catch (error) {
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .warning */ .$e)((0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .harmlessLine */ .Kw)(error instanceof Error ? error.message : String(error)));
    }
}
async function run(environment) {
    const settings = (0,_inputs_js__WEBPACK_IMPORTED_MODULE_8__/* .readSettings */ .s)(environment, (0,_inputs_js__WEBPACK_IMPORTED_MODULE_8__/* .readEvent */ .j)(environment));
    (0,_fork_guard_js__WEBPACK_IMPORTED_MODULE_6__/* .refuseUnsafePullRequestCheckout */ .J)(settings.guard);
    // The runner knows its own token; one from elsewhere it does not, nor the form that it takes in the header.
    (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .setSecret */ .Pq)(settings.token);
    (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .setSecret */ .Pq)((0,_credentials_js__WEBPACK_IMPORTED_MODULE_5__/* .basicCredential */ .gp)(settings.token));
    for (const line of settings.warnings)
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .warning */ .$e)(line);
    const { runnerTemp, repositoryPath, serverOrigin, persistCredentials } = settings;
    const temporaryHome = settings.setSafeDirectory ? (0,_safe_directory_js__WEBPACK_IMPORTED_MODULE_14__/* .newTemporaryHome */ .fy)(runnerTemp) : null;
    const credentialsPath = persistCredentials ? (0,_credentials_js__WEBPACK_IMPORTED_MODULE_5__/* .newCredentialsPath */ .yV)(runnerTemp) : null;
    (0,_state_js__WEBPACK_IMPORTED_MODULE_17__/* .saveStepState */ .j)({
        repositoryPath,
        serverOrigin,
        ...(credentialsPath === null ? {} : { credentialsPath }),
        ...(temporaryHome === null ? {} : { temporaryHome }),
    });
    const abort = new AbortController();
    const stop = () => abort.abort();
    process.on('SIGINT', stop).on('SIGTERM', stop);
    (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .info */ .pq)((0,_problem_matcher_js__WEBPACK_IMPORTED_MODULE_11__/* .addProblemMatcher */ .b)(runnerTemp));
    let result;
    try {
        const userHome = environment['HOME'] ?? (0,node_os__WEBPACK_IMPORTED_MODULE_1__.homedir)();
        const home = temporaryHome === null ? {} : (0,_safe_directory_js__WEBPACK_IMPORTED_MODULE_14__/* .makeTemporaryHome */ .Fw)(temporaryHome, repositoryPath, userHome, environment);
        const gitVariables = { ...(0,_git_js__WEBPACK_IMPORTED_MODULE_7__/* .gitEnvironment */ ._K)(settings.orchestrationId), ...home };
        const git = (0,_git_js__WEBPACK_IMPORTED_MODULE_7__/* .loggedGit */ .bZ)(repositoryPath, gitVariables, abort.signal);
        result = await work({
            settings,
            gitDir: (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(repositoryPath, '.git'),
            git,
            environment: gitVariables,
            ports: { observer: (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logObserver */ .JH)(settings.showProgress), git },
            signal: abort.signal,
            origins: [serverOrigin, environment['GITHUB_SERVER_URL'] ?? ''],
            credentialsPath,
            serverEnvironment: persistCredentials ? {} : (0,_credentials_js__WEBPACK_IMPORTED_MODULE_5__/* .credentialEnvironment */ .FI)(serverOrigin, settings.token, environment),
        });
    }
    catch (error) {
        const failure = persistCredentials ? error : await (0,_git_js__WEBPACK_IMPORTED_MODULE_7__/* .credentialEnvironmentHint */ .W2)(error);
        if (failure instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_4__/* .CheckoutError */ .vd)
            (0,_outputs_js__WEBPACK_IMPORTED_MODULE_9__/* .publishError */ .A)(failure, runnerTemp);
        throw failure;
    }
    finally {
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .info */ .pq)((0,_problem_matcher_js__WEBPACK_IMPORTED_MODULE_11__/* .removeProblemMatcher */ .Q)());
        if (temporaryHome !== null)
            warnOfFailure(() => (0,_safe_directory_js__WEBPACK_IMPORTED_MODULE_14__/* .removeTemporaryHome */ .pp)(temporaryHome));
        process.off('SIGINT', stop).off('SIGTERM', stop);
    }
    const { report, ref } = result;
    (0,_outputs_js__WEBPACK_IMPORTED_MODULE_9__/* .publishOutputs */ .e)(report, ref, runnerTemp);
    if (settings.annotations)
        (0,_annotations_js__WEBPACK_IMPORTED_MODULE_18__/* .publishAnnotations */ .c)(report);
    if (settings.summary && (environment['GITHUB_STEP_SUMMARY'] ?? '') !== '')
        await (0,_summary_js__WEBPACK_IMPORTED_MODULE_19__/* .publishSummary */ .I)(report);
    if (report.error !== undefined)
        throw _engine_errors_js__WEBPACK_IMPORTED_MODULE_4__/* .CheckoutError */ .vd.fromJSON(report.error);
}
try {
    await run(process.env);
}
catch (error) {
    if (error instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_4__/* .CheckoutError */ .vd) {
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .setFailed */ .C1)((0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .harmlessLine */ .Kw)(error.message));
    }
    else {
        const message = error instanceof Error ? error.message : String(error);
        (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .setFailed */ .C1)((0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .harmlessLine */ .Kw)(`unexpected error, please report it: ${message}`));
        if (error instanceof Error && error.stack !== undefined)
            (0,_actions_core__WEBPACK_IMPORTED_MODULE_15__/* .debug */ .Yz)(error.stack);
    }
}

__webpack_async_result__();
} catch(e) { __webpack_async_result__(e); } }, 1);

/***/ }),

/***/ 8741:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  A: () => (/* binding */ publishError),
  e: () => (/* binding */ publishOutputs)
});

// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __nccwpck_require__(7598);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __nccwpck_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __nccwpck_require__(6760);
// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(2488);
// EXTERNAL MODULE: ./build/js/engine/errors.js
var errors = __nccwpck_require__(390);
;// CONCATENATED MODULE: ./build/js/engine/report/json.js
/** The report as JSON, indented, with a line break at its end. Parsing it gives the same value. */
function reportToJson(report) {
    return toJson(report);
}
/** The plan as JSON, in the same form. */
function planToJson(plan) {
    return toJson(plan);
}
/** What stands for the report where a run failed before there was one: its schema version and the error alone. */
function errorToJson(error) {
    return toJson(error);
}
function toJson(value) {
    // JSON escapes C0 control characters; the rest of what could drive a terminal is escaped here, at no change of value.
    const text = JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => {
        return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
    return `${text}\n`;
}

// EXTERNAL MODULE: ./build/js/engine/report/outputs.js
var outputs = __nccwpck_require__(8574);
// EXTERNAL MODULE: ./build/js/engine/report/report.js
var report = __nccwpck_require__(2864);
;// CONCATENATED MODULE: ./build/js/action/outputs.js
/**
 * The outputs of the step, and the file that one of them names.
 */








function writeReport(runnerTemp, json) {
    const path = (0,external_node_path_.join)(runnerTemp, `parallel-checkout-report-${(0,external_node_crypto_.randomUUID)()}.json`);
    try {
        (0,external_node_fs_.writeFileSync)(path, json);
    }
    catch (error) {
        throw (0,errors/* ioError */.bD)('write', path, error);
    }
    (0,core/* setOutput */.uH)('report', path);
}
/**
 * Sets what the report tells. `commit` and `ref` are set only where the checkout succeeded, as with actions/checkout.
 * Throws `io` if the report cannot be written to RUNNER_TEMP.
 */
function publishOutputs(report, ref, runnerTemp) {
    if (report.error === undefined) {
        (0,core/* setOutput */.uH)('commit', report.commit ?? '');
        (0,core/* setOutput */.uH)('ref', ref);
    }
    for (const [name, value] of Object.entries((0,outputs/* reportToOutputs */.I)(report)))
        (0,core/* setOutput */.uH)(name, value);
    writeReport(runnerTemp, reportToJson(report));
}
/** The `report` output of a run that failed before there was anything to check out. */
function publishError(error, runnerTemp) {
    writeReport(runnerTemp, errorToJson({ schemaVersion: report/* REPORT_SCHEMA_VERSION */.W, error: error.toJSON() }));
}


/***/ }),

/***/ 2096:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Bl: () => (/* binding */ configureRepository),
/* harmony export */   Oh: () => (/* binding */ makeDirectory),
/* harmony export */   hK: () => (/* binding */ emptyDirectory),
/* harmony export */   j6: () => (/* binding */ reuseRepository),
/* harmony export */   zY: () => (/* binding */ initRepository)
/* harmony export */ });
/* unused harmony exports removeLeftOvers, planRefChanges */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(6760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(390);
/* harmony import */ var _config_file_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(1658);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(7745);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_5__ = __nccwpck_require__(4604);
/**
 * Gets the directory into a state that can be fetched into: made, emptied, or an earlier checkout of the same repository
 * with what could be in the way removed. When an earlier checkout is used again and when it is thrown away are the rules
 * of actions/checkout; it asks git up to twenty times for it, this once where nothing is in the way.
 */






function statOf(path) {
    try {
        return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(path, { throwIfNoEntry: false });
    }
    catch (error) {
        if ((0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .errnoOf */ .UQ)(error) === 'ENOTDIR')
            return undefined;
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('look at', path, error);
    }
}
/** Makes the directory; a file in its place is deleted. True if the directory was there. Throws `io`. */
function makeDirectory(path) {
    const stats = statOf(path);
    if (stats?.isDirectory() === true)
        return true;
    try {
        if (stats !== undefined)
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(path, { force: true });
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.mkdirSync)(path, { recursive: true });
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('make directory', path, error);
    }
    return false;
}
/** Removes everything in the directory, but not the directory, which may be a mount. Throws `io` with the path. */
function emptyDirectory(path) {
    let names;
    try {
        names = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(path);
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('read', path, error);
    }
    for (const name of names) {
        const entry = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(path, name);
        try {
            // Windows refuses for a moment what a virus scanner holds open.
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(entry, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
        }
        catch (error) {
            throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('remove', entry, error);
        }
    }
}
/** Levels of submodules within submodules, and parts of their names, that are looked through for left-overs. */
const MODULE_DEPTH = 32;
/** What git calls a pack or an object that it has not finished. */
const UNFINISHED = /^(?:tmp_|\.tmp-)/;
/**
 * Removes what killed git processes left: locks, of which `config.lock` or `HEAD.lock` alone would fail every later run, and
 * packs and objects that were not finished, which only take room. In the git directory, its working trees and submodules; links are
 * not followed. Returns the paths.
 */
function removeLeftOvers(gitDir) {
    const removed = [];
    const list = (directory) => {
        try {
            return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(directory, { withFileTypes: true });
        }
        catch (error) {
            if ((0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .errnoOf */ .UQ)(error) === 'ENOENT' || (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .errnoOf */ .UQ)(error) === 'ENOTDIR')
                return [];
            throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('read', directory, error);
        }
    };
    const remove = (path) => {
        try {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(path, { force: true });
        }
        catch (error) {
            throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('remove', path, error);
        }
        removed.push(path);
    };
    const isLock = (name) => name.endsWith('.lock');
    const sweep = (directory, recursive, goes) => {
        for (const entry of list(directory)) {
            const path = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, entry.name);
            if (entry.isDirectory()) {
                if (recursive)
                    sweep(path, true, goes);
            }
            else if (goes(entry.name)) {
                remove(path);
            }
        }
    };
    const sweepGitDir = (directory) => {
        sweep(directory, false, isLock);
        sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, 'refs'), true, isLock);
        const objects = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, 'objects');
        for (const place of ['', 'info', 'info/commit-graphs'])
            sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(objects, place), false, isLock);
        sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(objects, 'pack'), false, (name) => isLock(name) || UNFINISHED.test(name));
        for (const entry of list(objects)) {
            if (entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)) {
                sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(objects, entry.name), false, (name) => UNFINISHED.test(name));
            }
        }
        sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, 'reftable'), false, isLock);
        for (const entry of list((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, 'worktrees'))) {
            if (entry.isDirectory())
                sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, 'worktrees', entry.name), false, isLock);
        }
    };
    // A submodule's name may have slashes in it, so its git directory may lie some levels down.
    const sweepModules = (directory, depth) => {
        if (depth > MODULE_DEPTH)
            return;
        for (const entry of list(directory)) {
            const path = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, entry.name);
            if (!entry.isDirectory())
                continue;
            if ((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(path, 'HEAD')) || (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(path, 'objects'))) {
                sweepGitDir(path);
                sweepModules((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(path, 'modules'), depth + 1);
            }
            else {
                sweepModules(path, depth + 1);
            }
        }
    };
    sweepGitDir(gitDir);
    sweepModules((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'modules'), 0);
    return removed;
}
/**
 * No local branch of an earlier run stays, and no tracking ref whose name is a directory of the new one's or the other
 * way round (`a` and `a/b` cannot both be; case does not count, since it does not on some file systems). Pure. The branch
 * that HEAD is on stays if it is the one to be checked out, which saves detaching HEAD first.
 */
function planRefChanges(refs, form) {
    let detachAt = null;
    const remove = [];
    const branch = form === null ? null : (0,_ref_js__WEBPACK_IMPORTED_MODULE_5__/* .branchOf */ .W0)(form);
    const tracking = branch === null ? null : `refs/remotes/origin/${branch}`.toLowerCase();
    for (const ref of refs) {
        if (ref.name.startsWith('refs/heads/')) {
            if (ref.isHead && form?.kind === 'branch' && ref.name === `refs/heads/${form.name}`)
                continue;
            if (ref.isHead)
                detachAt = ref.oid;
            remove.push(ref.name);
        }
        else if (tracking !== null) {
            const name = ref.name.toLowerCase();
            if (name.startsWith(`${tracking}/`) || tracking.startsWith(`${name}/`))
                remove.push(ref.name);
        }
    }
    return { detachAt, remove };
}
async function existingRefs(git) {
    const format = '--format=%(objectname) %(HEAD) %(refname)';
    const args = ['for-each-ref', format, 'refs/heads', 'refs/remotes/origin'];
    const text = await (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitText */ .q_)(git, { args }, 'cannot list the refs');
    return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
        // `<oid> <* or blank> <name>`
        const blank = line.indexOf(' ');
        return { oid: line.slice(0, blank), isHead: line[blank + 1] === '*', name: line.slice(blank + 3) };
    });
}
async function applyRefChanges(git, changes) {
    if (changes.detachAt !== null) {
        const args = ['update-ref', '--no-deref', '-m', 'checkout: leaving the branch', 'HEAD', changes.detachAt];
        await (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitText */ .q_)(git, { args }, 'cannot detach HEAD');
    }
    if (changes.remove.length === 0)
        return;
    const input = Buffer.from(changes.remove.map((name) => `delete ${name}\0\0`).join(''), 'utf8');
    const args = ['update-ref', '--no-deref', '--stdin', '-z'];
    await (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitText */ .q_)(git, { args, input }, 'cannot remove the refs of an earlier checkout');
}
const SPARSE_KEYS = new Set(['core.sparsecheckout', 'core.sparsecheckoutcone', 'index.sparse']);
/**
 * Ends the sparse checkout of an earlier run, in the configuration of the repository and of its main working tree. The
 * checkout then writes what the index has marked as not to be written, or sets patterns of its own.
 */
function endSparseCheckout(gitDir) {
    const worktreeConfig = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config.worktree');
    const end = (text) => (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .removeVariables */ .Qw)(text, (variable) => {
        const key = `${variable.section}.${variable.name}`;
        return variable.subsection === null && SPARSE_KEYS.has(key);
    });
    (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .editConfigFile */ .T3)(worktreeConfig, end);
    const rest = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .readConfigFile */ .RG)(worktreeConfig);
    // The extension stays where something else needs it.
    const needed = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'worktrees')) || (rest !== null && (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .configVariables */ .sz)(rest).length > 0);
    (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .editConfigFile */ .T3)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config'), (text) => (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .removeVariables */ .Qw)(end(text), ({ section, name }) => !needed && section === 'extensions' && name === 'worktreeconfig'));
}
/**
 * Makes an earlier checkout ready to be fetched into. Returns why it cannot be used, so that its contents have to go, or
 * null. A failure on the way is such a reason too.
 */
async function reuseRepository(request) {
    const gitDir = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(request.repositoryPath, '.git');
    if (statOf(gitDir)?.isDirectory() !== true)
        return { reason: 'no git repository is in it', expected: true };
    try {
        removeLeftOvers(gitDir);
        const config = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .readConfigFile */ .RG)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config'));
        if (config === null)
            return { reason: 'its git repository has no configuration', expected: false };
        const urls = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .configValues */ .br)(config, 'remote', 'origin', 'url');
        if (urls.length !== 1 || urls[0] !== request.url) {
            return { reason: 'another repository is in it', expected: true };
        }
        const hasSubmodules = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(request.repositoryPath, '.gitmodules')) || (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'modules'));
        const [refs, submodules] = await Promise.all([
            existingRefs(request.git),
            hasSubmodules ? request.git({ args: ['submodule', 'status'] }) : null,
        ]);
        if (submodules !== null && submodules.exitCode !== 0)
            throw (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitFailure */ .tv)('its submodules are broken', submodules);
        const changes = planRefChanges(refs, request.form);
        await applyRefChanges(request.git, changes);
        const removed = new Set(changes.remove);
        (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .editConfigFile */ .T3)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config'), (text) => (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .removeSections */ .zz)(text, (section, name) => section === 'branch' && removed.has(`refs/heads/${name ?? ''}`)));
        endSparseCheckout(gitDir);
        return null;
    }
    catch (error) {
        // These say nothing about the repository, which must not be thrown away for them.
        if (!(error instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .CheckoutError */ .vd) || error.code === 'interrupted' || error.code === 'git-missing')
            throw error;
        return { reason: error.message, expected: false };
    }
}
/** Makes the repository. Throws `git-failed`. */
async function initRepository(git, repositoryPath, objectFormat) {
    const format = objectFormat === 'sha256' ? ['--object-format=sha256'] : [];
    await (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitText */ .q_)(git, { args: ['init', '--quiet', ...format, repositoryPath] }, 'cannot make a repository');
}
/** Sets the remote and turns automatic maintenance off, which would run beside the job. Keeps what is set already. */
function configureRepository(gitDir, url) {
    const config = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config');
    if ((0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .readConfigFile */ .RG)(config) === null) {
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .CheckoutError */ .vd('not-a-repository', `'${gitDir}' has no configuration file`, { path: gitDir });
    }
    (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .editConfigFile */ .T3)(config, (text) => {
        let result = text;
        if ((0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .configValues */ .br)(text, 'remote', 'origin', 'url').length === 0) {
            const fetch = '+refs/heads/*:refs/remotes/origin/*';
            const origin = {
                section: 'remote',
                subsection: 'origin',
                variables: [
                    ['url', url],
                    ['fetch', fetch],
                ],
            };
            result = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .appendSections */ .bN)(result, [origin]);
        }
        const auto = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .configValues */ .br)(text, 'gc', null, 'auto');
        if (auto.length !== 1 || auto[0] !== '0') {
            result = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .removeVariables */ .Qw)(result, ({ section, name }) => section === 'gc' && name === 'auto');
            result = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .appendSections */ .bN)(result, [{ section: 'gc', subsection: null, variables: [['auto', '0']] }]);
        }
        return result;
    });
}


/***/ }),

/***/ 5413:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ removeProblemMatcher),
/* harmony export */   b: () => (/* binding */ addProblemMatcher)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(6760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(390);
/**
 * Makes the runner turn git's `fatal:` and `error:` lines into annotations while the step works. The runner wants a file;
 * it is written to RUNNER_TEMP under a fixed name, so that the bundle needs no file beside it, and left there: the runner
 * reads it some time after the command was printed.
 */



/** The name under which a matcher is removed again; that of actions/checkout. */
const OWNER = 'checkout-git';
const MATCHER = {
    problemMatcher: [{ owner: OWNER, pattern: [{ regexp: '^(fatal|error): (.*)$', message: 2 }] }],
};
/** Writes the file and returns the command that makes the runner use it. Throws `io`. */
function addProblemMatcher(runnerTemp) {
    const path = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(runnerTemp, 'parallel-checkout-problem-matcher.json');
    try {
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.writeFileSync)(path, JSON.stringify(MATCHER));
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('write', path, error);
    }
    return `::add-matcher::${path.replaceAll('%', '%25')}`;
}
/** The command that ends it. */
function removeProblemMatcher() {
    return `::remove-matcher owner=${OWNER}::`;
}


/***/ }),

/***/ 4604:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Gs: () => (/* binding */ refForm),
/* harmony export */   IE: () => (/* binding */ refspecs),
/* harmony export */   My: () => (/* binding */ refTest),
/* harmony export */   TS: () => (/* binding */ isObjectId),
/* harmony export */   W0: () => (/* binding */ branchOf),
/* harmony export */   X4: () => (/* binding */ exactRefspecs),
/* harmony export */   uG: () => (/* binding */ checkoutTarget)
/* harmony export */ });
/* unused harmony exports ALL_BRANCHES, ALL_TAGS, invalidRefName */
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(390);
/**
 * From what the `ref` input says to what is fetched and what HEAD becomes. Pure: what the remote has is an argument. The
 * table of refspecs is that of actions/checkout, since later steps rely on which refs are there; two rows differ, each
 * marked.
 */

const ALL_BRANCHES = '+refs/heads/*:refs/remotes/origin/*';
const ALL_TAGS = '+refs/tags/*:refs/tags/*';
/** True for a whole object id, SHA-1 or SHA-256, in either case. */
function isObjectId(text) {
    return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);
}
/**
 * Why git would refuse this ref name, or null (git-check-ref-format(1)). Without this a name with a colon or a star would
 * be read as a refspec of its own.
 */
function invalidRefName(name) {
    if (name === '' || name === '@')
        return 'it is not a name';
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name))
        return 'it holds a blank, a control character or one of ~^:?*[\\';
    if (name.includes('..') || name.includes('@{'))
        return "it holds '..' or '@{'";
    if (name.startsWith('/') || name.endsWith('/') || name.includes('//'))
        return 'it has an empty part';
    if (name.endsWith('.'))
        return "it ends in '.'";
    for (const part of name.split('/')) {
        if (part.startsWith('.') || part.endsWith('.lock'))
            return `a part starts with '.' or ends in '.lock'`;
    }
    return null;
}
/** Tells the forms apart. Prefixes in any case count, the rest keeps its case. Throws `usage` for an impossible name. */
function refForm(ref, commit) {
    if (ref === '') {
        if (commit === '')
            throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .CheckoutError */ .vd('usage', 'neither a ref nor a commit to check out', { option: 'ref' });
        return { kind: 'commit', commit };
    }
    const reason = invalidRefName(ref);
    if (reason !== null) {
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .CheckoutError */ .vd('usage', `input 'ref' cannot be a ref: '${printable(ref)}': ${reason}`, { option: 'ref' });
    }
    const lower = ref.toLowerCase();
    const after = (prefix) => ref.slice(prefix.length);
    if (lower.startsWith('refs/heads/'))
        return { kind: 'branch', name: after('refs/heads/'), commit };
    if (lower.startsWith('refs/pull/'))
        return { kind: 'pull', name: after('refs/pull/'), commit };
    if (lower.startsWith('refs/tags/'))
        return { kind: 'tag', name: after('refs/tags/'), commit };
    if (lower.startsWith('refs/'))
        return { kind: 'other', name: ref, commit };
    // A commit is given beside a ref only by events, whose refs are qualified by the time they come here.
    return { kind: 'unqualified', name: ref };
}
function printable(text) {
    // eslint-disable-next-line no-control-regex -- control characters must not reach the log
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => JSON.stringify(character).slice(1, -1));
}
function unknownRef(name) {
    const hint = /^[0-9a-f]{4,63}$/i.test(name) ? '; a commit must be given by its whole id' : '';
    return new _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .CheckoutError */ .vd('unknown-revision', `the repository has no branch or tag named '${name}'${hint}`, {
        option: 'ref',
    });
}
/** The refspecs of the one ref alone, whatever the depth. Throws `unknown-revision` for a name that the remote lacks. */
function exactRefspecs(form, remote = { branch: false, tag: false }) {
    switch (form.kind) {
        case 'branch':
            return [`+${form.commit || `refs/heads/${form.name}`}:refs/remotes/origin/${form.name}`];
        case 'pull':
            return [`+${form.commit || `refs/pull/${form.name}`}:refs/remotes/pull/${form.name}`];
        case 'tag':
            return [`+refs/tags/${form.name}:refs/tags/${form.name}`];
        case 'other':
            return [form.commit || `+${form.name}:${form.name}`];
        case 'commit':
            return [form.commit];
        case 'unqualified': {
            // actions/checkout fetches every branch and tag that starts with the name; this fetches what has the name.
            if (!remote.branch && !remote.tag)
                throw unknownRef(form.name);
            const specs = [];
            if (remote.branch)
                specs.push(`+refs/heads/${form.name}:refs/remotes/origin/${form.name}`);
            if (remote.tag)
                specs.push(`+refs/tags/${form.name}:refs/tags/${form.name}`);
            return specs;
        }
    }
}
/**
 * What to ask the remote for. `depth` 0 is all history. `remote` is needed for an unqualified name with a depth.
 */
function refspecs(form, options, remote) {
    if (options.depth > 0) {
        const exact = exactRefspecs(form, remote);
        if (!options.tags)
            return exact;
        return [ALL_TAGS, ...exact.filter((spec) => !spec.startsWith('+refs/tags/'))];
    }
    const all = [ALL_BRANCHES, ALL_TAGS];
    // actions/checkout leaves out refs of other kinds here, and then cannot check them out.
    if (form.kind === 'pull' || form.kind === 'other')
        return [...all, ...exactRefspecs(form)];
    return all;
}
/** What HEAD becomes. `remote` decides between the branch and the tag of an unqualified name. */
function checkoutTarget(form, remote) {
    switch (form.kind) {
        case 'branch':
            return { kind: 'branch', branch: form.name, startPoint: `refs/remotes/origin/${form.name}` };
        case 'pull':
            return { kind: 'detach', revision: `refs/remotes/pull/${form.name}` };
        case 'tag':
            return { kind: 'detach', revision: `refs/tags/${form.name}` };
        case 'other':
            return { kind: 'detach', revision: form.commit || form.name };
        case 'commit':
            return { kind: 'detach', revision: form.commit };
        case 'unqualified':
            if (remote?.branch === true) {
                return { kind: 'branch', branch: form.name, startPoint: `refs/remotes/origin/${form.name}` };
            }
            if (remote?.tag === true)
                return { kind: 'detach', revision: `refs/tags/${form.name}` };
            throw unknownRef(form.name);
    }
}
/**
 * What has to be looked up after the fetch to be sure that the ref still is at the event's commit: `revision` must
 * resolve, to `expected` if that is given. Null where the fetch itself has made sure, or there is nothing to compare.
 */
function refTest(form, depth) {
    switch (form.kind) {
        case 'branch':
            // With a depth the refspec is the commit itself, so that the branch cannot be elsewhere.
            if (form.commit === '' || depth > 0)
                return null;
            return { revision: `refs/remotes/origin/${form.name}`, expected: form.commit };
        case 'tag':
            return form.commit === '' ? null : { revision: `refs/tags/${form.name}^{commit}`, expected: form.commit };
        case 'commit':
            return depth > 0 ? null : { revision: `${form.commit}^{object}`, expected: null };
        case 'pull':
        case 'other':
        case 'unqualified':
            return null;
    }
}
/** The branch that a checkout of this ref would have to make room for among the tracking refs, or null. */
function branchOf(form) {
    return form.kind === 'branch' || form.kind === 'unqualified' ? form.name : null;
}


/***/ }),

/***/ 3731:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   E4: () => (/* binding */ lookUpRemoteName),
/* harmony export */   Ku: () => (/* binding */ lookUpDefaultBranch),
/* harmony export */   f: () => (/* binding */ lookUpFetchedName)
/* harmony export */ });
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(390);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(7745);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(4604);
/**
 * Asks the remote, through git, what the `ref` input leaves open: its default branch, and whether a short name is a branch
 * or a tag there. actions/checkout asks the REST interface for the first, which not every server has.
 */



/** Lines of `ls-remote`: `<oid>\t<ref>` and, with --symref, `ref: <target>\t<ref>`. */
function remoteRefs(text) {
    const refs = new Map();
    for (const line of text.split('\n')) {
        const tab = line.indexOf('\t');
        // A symbolic ref's target comes before its object id; the first is kept.
        if (tab > 0 && !refs.has(line.slice(tab + 1)))
            refs.set(line.slice(tab + 1), line.slice(0, tab));
    }
    return refs;
}
/** What the remote's HEAD names: its default branch, or the commit where it is on none. */
async function lookUpDefaultBranch(git, env) {
    const args = ['ls-remote', '--quiet', '--symref', 'origin', 'HEAD'];
    const text = await (0,_git_js__WEBPACK_IMPORTED_MODULE_1__/* .gitText */ .q_)(git, { args, env }, 'cannot ask the server for the default branch');
    const head = remoteRefs(text).get('HEAD');
    if (head === undefined) {
        throw new _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .CheckoutError */ .vd('unknown-revision', 'the repository has no default branch: it is empty, or its HEAD is broken');
    }
    return head.startsWith('ref: ') ? (0,_ref_js__WEBPACK_IMPORTED_MODULE_2__/* .refForm */ .Gs)(head.slice('ref: '.length), '') : (0,_ref_js__WEBPACK_IMPORTED_MODULE_2__/* .refForm */ .Gs)('', head);
}
/** Whether the remote has a branch and a tag of exactly this name. */
async function lookUpRemoteName(git, env, name) {
    const branch = `refs/heads/${name}`;
    const tag = `refs/tags/${name}`;
    const args = ['ls-remote', '--quiet', 'origin', branch, tag];
    // git matches the ends of names too, so what it lists need not be what was asked for.
    const refs = remoteRefs(await (0,_git_js__WEBPACK_IMPORTED_MODULE_1__/* .gitText */ .q_)(git, { args, env }, `cannot ask the server for '${name}'`));
    return { branch: refs.has(branch), tag: refs.has(tag) };
}
/** The same, after all branches and tags were fetched. */
async function lookUpFetchedName(git, name) {
    const branch = `refs/remotes/origin/${name}`;
    const tag = `refs/tags/${name}`;
    const args = ['for-each-ref', '--format=%(refname)', branch, tag];
    const refs = (await (0,_git_js__WEBPACK_IMPORTED_MODULE_1__/* .gitText */ .q_)(git, { args }, `cannot look up '${name}'`)).split('\n');
    return { branch: refs.includes(branch), tag: refs.includes(tag) };
}


/***/ }),

/***/ 9418:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Fw: () => (/* binding */ makeTemporaryHome),
/* harmony export */   fy: () => (/* binding */ newTemporaryHome),
/* harmony export */   pp: () => (/* binding */ removeTemporaryHome)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(7598);
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(6760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(390);
/* harmony import */ var _config_file_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(1658);
/**
 * Makes git accept a working tree that belongs to another user (in container jobs it often does) for our own git
 * processes only: they get a HOME of their own, whose configuration adds `safe.directory` to the user's. The
 * configuration of the user is included, not copied, so that relative includes in it still work; later steps never see
 * any of this, as with actions/checkout.
 *
 * A HOME and not `-c safe.directory`, which git before 2.38 does not obey.
 */





/** A new path for the temporary home. */
function newTemporaryHome(runnerTemp) {
    return (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(runnerTemp, (0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.randomUUID)());
}
/**
 * Makes the home and returns the environment for git. `userHome` is the real one. Throws `io`.
 */
function makeTemporaryHome(home, repositoryPath, userHome, environment) {
    const global = environment['GIT_CONFIG_GLOBAL'];
    // Without XDG_CONFIG_HOME git looks below HOME, for its attributes and ignore files too.
    const xdg = environment['XDG_CONFIG_HOME'] ?? '';
    const include = (path) => ({
        section: 'include',
        subsection: null,
        variables: [['path', path]],
    });
    const safe = { section: 'safe', subsection: null, variables: [['directory', repositoryPath]] };
    const config = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(home, '.gitconfig');
    const text = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .formatSection */ .$R)(include(global ?? (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(userHome, '.gitconfig'))) + (0,_config_file_js__WEBPACK_IMPORTED_MODULE_4__/* .formatSection */ .$R)(safe);
    try {
        (0,node_fs__WEBPACK_IMPORTED_MODULE_1__.mkdirSync)(home, { recursive: true, mode: 0o700 });
        (0,node_fs__WEBPACK_IMPORTED_MODULE_1__.writeFileSync)(config, text, { mode: 0o600, encoding: 'latin1' });
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .ioError */ .bD)('write', config, error);
    }
    return {
        HOME: home,
        XDG_CONFIG_HOME: xdg === '' ? (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(userHome, '.config') : xdg,
        ...(global === undefined ? {} : { GIT_CONFIG_GLOBAL: config }),
    };
}
/** Removes it. Throws `io`. */
function removeTemporaryHome(home) {
    try {
        (0,node_fs__WEBPACK_IMPORTED_MODULE_1__.rmSync)(home, { recursive: true, force: true });
    }
    catch (error) {
        throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_3__/* .ioError */ .bD)('remove', home, error);
    }
}


/***/ }),

/***/ 4480:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   j: () => (/* binding */ saveStepState)
/* harmony export */ });
/* unused harmony export readStepState */
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(2488);
/**
 * What the main phase leaves for the post phase, through the runner. Saved before the thing itself is made, so that a
 * step that is killed half-way is cleaned up after all.
 */

const NAMES = ['repositoryPath', 'credentialsPath', 'serverOrigin', 'temporaryHome'];
/** Adds to the state. */
function saveStepState(state) {
    for (const name of NAMES)
        if (state[name] !== undefined)
            (0,_actions_core__WEBPACK_IMPORTED_MODULE_0__/* .saveState */ .LZ)(name, state[name]);
}
/** What the main phase of this step saved. */
function readStepState() {
    const state = {};
    for (const name of NAMES) {
        const value = getState(name);
        if (value !== '')
            state[name] = value;
    }
    return state;
}


/***/ }),

/***/ 2034:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  I: () => (/* binding */ publishSummary)
});

// EXTERNAL MODULE: external "os"
var external_os_ = __nccwpck_require__(857);
// EXTERNAL MODULE: external "fs"
var external_fs_ = __nccwpck_require__(9896);
;// CONCATENATED MODULE: ./build/node_modules/@actions/core/lib/summary.js
var __awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};


const { access, appendFile, writeFile } = external_fs_.promises;
const SUMMARY_ENV_VAR = 'GITHUB_STEP_SUMMARY';
const SUMMARY_DOCS_URL = 'https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions#adding-a-job-summary';
class Summary {
    constructor() {
        this._buffer = '';
    }
    /**
     * Finds the summary file path from the environment, rejects if env var is not found or file does not exist
     * Also checks r/w permissions.
     *
     * @returns step summary file path
     */
    filePath() {
        return __awaiter(this, void 0, void 0, function* () {
            if (this._filePath) {
                return this._filePath;
            }
            const pathFromEnv = process.env[SUMMARY_ENV_VAR];
            if (!pathFromEnv) {
                throw new Error(`Unable to find environment variable for $${SUMMARY_ENV_VAR}. Check if your runtime environment supports job summaries.`);
            }
            try {
                yield access(pathFromEnv, external_fs_.constants.R_OK | external_fs_.constants.W_OK);
            }
            catch (_a) {
                throw new Error(`Unable to access summary file: '${pathFromEnv}'. Check if the file has correct read/write permissions.`);
            }
            this._filePath = pathFromEnv;
            return this._filePath;
        });
    }
    /**
     * Wraps content in an HTML tag, adding any HTML attributes
     *
     * @param {string} tag HTML tag to wrap
     * @param {string | null} content content within the tag
     * @param {[attribute: string]: string} attrs key-value list of HTML attributes to add
     *
     * @returns {string} content wrapped in HTML element
     */
    wrap(tag, content, attrs = {}) {
        const htmlAttrs = Object.entries(attrs)
            .map(([key, value]) => ` ${key}="${value}"`)
            .join('');
        if (!content) {
            return `<${tag}${htmlAttrs}>`;
        }
        return `<${tag}${htmlAttrs}>${content}</${tag}>`;
    }
    /**
     * Writes text in the buffer to the summary buffer file and empties buffer. Will append by default.
     *
     * @param {SummaryWriteOptions} [options] (optional) options for write operation
     *
     * @returns {Promise<Summary>} summary instance
     */
    write(options) {
        return __awaiter(this, void 0, void 0, function* () {
            const overwrite = !!(options === null || options === void 0 ? void 0 : options.overwrite);
            const filePath = yield this.filePath();
            const writeFunc = overwrite ? writeFile : appendFile;
            yield writeFunc(filePath, this._buffer, { encoding: 'utf8' });
            return this.emptyBuffer();
        });
    }
    /**
     * Clears the summary buffer and wipes the summary file
     *
     * @returns {Summary} summary instance
     */
    clear() {
        return __awaiter(this, void 0, void 0, function* () {
            return this.emptyBuffer().write({ overwrite: true });
        });
    }
    /**
     * Returns the current summary buffer as a string
     *
     * @returns {string} string of summary buffer
     */
    stringify() {
        return this._buffer;
    }
    /**
     * If the summary buffer is empty
     *
     * @returns {boolen} true if the buffer is empty
     */
    isEmptyBuffer() {
        return this._buffer.length === 0;
    }
    /**
     * Resets the summary buffer without writing to summary file
     *
     * @returns {Summary} summary instance
     */
    emptyBuffer() {
        this._buffer = '';
        return this;
    }
    /**
     * Adds raw text to the summary buffer
     *
     * @param {string} text content to add
     * @param {boolean} [addEOL=false] (optional) append an EOL to the raw text (default: false)
     *
     * @returns {Summary} summary instance
     */
    addRaw(text, addEOL = false) {
        this._buffer += text;
        return addEOL ? this.addEOL() : this;
    }
    /**
     * Adds the operating system-specific end-of-line marker to the buffer
     *
     * @returns {Summary} summary instance
     */
    addEOL() {
        return this.addRaw(external_os_.EOL);
    }
    /**
     * Adds an HTML codeblock to the summary buffer
     *
     * @param {string} code content to render within fenced code block
     * @param {string} lang (optional) language to syntax highlight code
     *
     * @returns {Summary} summary instance
     */
    addCodeBlock(code, lang) {
        const attrs = Object.assign({}, (lang && { lang }));
        const element = this.wrap('pre', this.wrap('code', code), attrs);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML list to the summary buffer
     *
     * @param {string[]} items list of items to render
     * @param {boolean} [ordered=false] (optional) if the rendered list should be ordered or not (default: false)
     *
     * @returns {Summary} summary instance
     */
    addList(items, ordered = false) {
        const tag = ordered ? 'ol' : 'ul';
        const listItems = items.map(item => this.wrap('li', item)).join('');
        const element = this.wrap(tag, listItems);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML table to the summary buffer
     *
     * @param {SummaryTableCell[]} rows table rows
     *
     * @returns {Summary} summary instance
     */
    addTable(rows) {
        const tableBody = rows
            .map(row => {
            const cells = row
                .map(cell => {
                if (typeof cell === 'string') {
                    return this.wrap('td', cell);
                }
                const { header, data, colspan, rowspan } = cell;
                const tag = header ? 'th' : 'td';
                const attrs = Object.assign(Object.assign({}, (colspan && { colspan })), (rowspan && { rowspan }));
                return this.wrap(tag, data, attrs);
            })
                .join('');
            return this.wrap('tr', cells);
        })
            .join('');
        const element = this.wrap('table', tableBody);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds a collapsable HTML details element to the summary buffer
     *
     * @param {string} label text for the closed state
     * @param {string} content collapsable content
     *
     * @returns {Summary} summary instance
     */
    addDetails(label, content) {
        const element = this.wrap('details', this.wrap('summary', label) + content);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML image tag to the summary buffer
     *
     * @param {string} src path to the image you to embed
     * @param {string} alt text description of the image
     * @param {SummaryImageOptions} options (optional) addition image attributes
     *
     * @returns {Summary} summary instance
     */
    addImage(src, alt, options) {
        const { width, height } = options || {};
        const attrs = Object.assign(Object.assign({}, (width && { width })), (height && { height }));
        const element = this.wrap('img', null, Object.assign({ src, alt }, attrs));
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML section heading element
     *
     * @param {string} text heading text
     * @param {number | string} [level=1] (optional) the heading level, default: 1
     *
     * @returns {Summary} summary instance
     */
    addHeading(text, level) {
        const tag = `h${level}`;
        const allowedTag = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].includes(tag)
            ? tag
            : 'h1';
        const element = this.wrap(allowedTag, text);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML thematic break (<hr>) to the summary buffer
     *
     * @returns {Summary} summary instance
     */
    addSeparator() {
        const element = this.wrap('hr', null);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML line break (<br>) to the summary buffer
     *
     * @returns {Summary} summary instance
     */
    addBreak() {
        const element = this.wrap('br', null);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML blockquote to the summary buffer
     *
     * @param {string} text quote text
     * @param {string} cite (optional) citation url
     *
     * @returns {Summary} summary instance
     */
    addQuote(text, cite) {
        const attrs = Object.assign({}, (cite && { cite }));
        const element = this.wrap('blockquote', text, attrs);
        return this.addRaw(element).addEOL();
    }
    /**
     * Adds an HTML anchor tag to the summary buffer
     *
     * @param {string} text link text/content
     * @param {string} href hyperlink
     *
     * @returns {Summary} summary instance
     */
    addLink(text, href) {
        const element = this.wrap('a', text, { href });
        return this.addRaw(element).addEOL();
    }
}
const _summary = new Summary();
/**
 * @deprecated use `core.summary`
 */
const markdownSummary = (/* unused pure expression or super */ null && (_summary));
const summary = _summary;
//# sourceMappingURL=summary.js.map
// EXTERNAL MODULE: ./build/js/engine/report/format.js
var format = __nccwpck_require__(8093);
// EXTERNAL MODULE: ./build/js/engine/report/outputs.js
var outputs = __nccwpck_require__(8574);
// EXTERNAL MODULE: ./build/js/engine/report/worker-groups.js
var worker_groups = __nccwpck_require__(9849);
;// CONCATENATED MODULE: ./build/js/engine/report/markdown.js



/** What GitHub takes as the summary of one step. */
const SUMMARY_LIMIT_BYTES = (/* unused pure expression or super */ null && (1024 * 1024));
// Worst case of all bounds together, each character at its longest (six bytes): below 0.7 MiB, see the test.
const WORKER_ROWS = 64;
const LISTED_ENTRIES = 100;
const LISTED_REASONS = 50;
const LISTED_FALLBACKS = 20;
const TEXT_CHARACTERS = 300;
const ERROR_CHARACTERS = 2000;
/** Markdown of at most {@link SUMMARY_LIMIT_BYTES}, with a line break at its end. */
function reportToMarkdown(report) {
    const { totals, plan } = report;
    const lines = ['### parallel-checkout', ''];
    if (report.error !== undefined) {
        const { code, message } = report.error;
        lines.push(`**Failed** (${codeSpan(code)}): ${markdownText(message, ERROR_CHARACTERS)}`, '');
    }
    // Few checkouts are sparse, and the table is wide enough.
    const sparse = totals.excluded > 0;
    const cleaned = totals.cleaned > 0;
    lines.push(...table([
        ...[
            'Files',
            'Written',
            'Time',
            'CPU user',
            'CPU system',
            'Peak memory',
            'Engine',
            'Workers',
            'Kept',
            'Removed',
        ],
        ...(cleaned ? ['Cleaned'] : []),
        ...(sparse ? ['Not in sparse checkout'] : []),
    ], [
        [
            (0,format/* formatCount */.B4)(totals.files),
            (0,format/* formatBytes */.z3)(totals.bytesWritten),
            (0,format/* formatMs */._V)(totals.wallMs),
            (0,format/* formatMs */._V)(totals.cpuUserMs),
            (0,format/* formatMs */._V)(totals.cpuSystemMs),
            (0,format/* formatBytes */.z3)(totals.peakRssBytes),
            report.engine,
            (0,format/* formatCount */.B4)((0,outputs/* workersUsed */.v)(report)),
            (0,format/* formatCount */.B4)(totals.kept),
            (0,format/* formatCount */.B4)(totals.removed),
            ...(cleaned ? [(0,format/* formatCount */.B4)(totals.cleaned)] : []),
            ...(sparse ? [(0,format/* formatCount */.B4)(totals.excluded)] : []),
        ],
    ]), '');
    if (report.commit !== null)
        lines.push(`Commit ${codeSpan(report.commit)}`, '');
    if (report.phases.length > 0) {
        lines.push(...table(['Phase', ...report.phases.map(({ name }) => name)], [['Time', ...report.phases.map(({ ms }) => (0,format/* formatMs */._V)(ms))]]), '');
    }
    if (report.workers.length > 0)
        lines.push(...workerTable(report.workers), '');
    if (plan.reasons.length > 0) {
        lines.push((0,format/* planSentence */.th)(plan), '', ...list(plan.reasons, LISTED_REASONS, ({ about, text, decided }) => {
            const reason = `${about}: ${markdownText(text)}`;
            return decided ? `**${reason}**` : reason;
        }), '');
    }
    if (report.fallbacks.length > 0) {
        lines.push('Handed to git:', '', ...list(report.fallbacks, LISTED_FALLBACKS, ({ stage, reason }) => `${stage}: ${markdownText(reason)}`), '');
    }
    if (report.skipped.length > 0) {
        lines.push(`Not written: ${(0,format/* formatCount */.B4)(report.skipped.length)}`, '', ...list(report.skipped, LISTED_ENTRIES, ({ path, reason }) => `${codeSpan(path)}: ${markdownText(reason)}`), '');
    }
    return lines.join('\n');
}
/**
 * Foreign text as a Markdown code span, the one construct in which nothing else is parsed and nobody is mentioned. One
 * line; not for table cells, whose bars are split before spans are seen.
 */
function codeSpan(text) {
    const content = (0,format/* printable */.g$)(text, TEXT_CHARACTERS);
    // A span ends at the first run of exactly as many backticks as opened it.
    const runs = content.match(/`+/g) ?? [];
    const fence = '`'.repeat(1 + Math.max(0, ...runs.map((run) => run.length)));
    return `${fence} ${content} ${fence}`;
}
/**
 * Foreign text as plain Markdown text of one line. What could be markup becomes a character reference, which GitHub
 * shows but does not parse; after '@' and '#' comes an invisible space, since mentions and issue links are made after
 * references are resolved.
 */
function markdownText(text, most = TEXT_CHARACTERS) {
    return (0,format/* printable */.g$)(text, most)
        .replace(/[!"#$%&*+/:;<=>?@[\\\]^_`{|}~-]/g, (character) => {
        const reference = `&#${character.charCodeAt(0)};`;
        return character === '@' || character === '#' ? `${reference}&#8203;` : reference;
    })
        .replace(/(www|^ *\d+)([.)])/gi, (_, before, mark) => `${before}&#${mark.charCodeAt(0)};`);
}
function workerTable(workers) {
    const grouped = workers.length > WORKER_ROWS;
    const rows = (0,worker_groups/* groupWorkers */.X8)(workers, WORKER_ROWS).map((group) => {
        const [only] = group;
        return costRow(group.length === 1 && only !== undefined ? (0,format/* workerName */.ig)(only) : (0,worker_groups/* groupName */.hv)(group), (0,worker_groups/* groupCost */.ZW)(group));
    });
    const head = ['Worker', 'Files', 'Written', 'Time', 'CPU user', 'CPU system', 'Waiting', 'Peak memory'];
    const lines = table(head, rows);
    if (grouped) {
        lines.push('', 'Where workers share a row, work, CPU time and waiting are sums, time and memory the highest of one.');
    }
    return lines;
}
function costRow(name, cost) {
    return [
        name,
        (0,format/* formatCount */.B4)(cost.files),
        (0,format/* formatBytes */.z3)(cost.bytesWritten),
        (0,format/* formatMs */._V)(cost.wallMs),
        (0,format/* formatMs */._V)(cost.cpuUserMs),
        (0,format/* formatMs */._V)(cost.cpuSystemMs),
        (0,format/* formatMs */._V)(cost.waitMs),
        (0,format/* formatBytes */.z3)(cost.peakMemoryBytes),
    ];
}
/** Cells are our own words and numbers; numbers stand to the right. */
function table(head, rows) {
    const rule = head.map((_, at) => (at === 0 ? '---' : '--:'));
    return [head, rule, ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`);
}
function cell(text) {
    return text.replaceAll('<', '&lt;');
}
function list(items, most, line) {
    const shown = items.slice(0, most).map((item) => `- ${line(item)}`);
    const rest = items.length - shown.length;
    if (rest > 0)
        shown.push(`- … and ${(0,format/* formatCount */.B4)(rest)} more, all of them in the JSON report`);
    return shown;
}

;// CONCATENATED MODULE: ./build/js/action/summary.js
/**
 * Adds the report to the summary of the job.
 */


/** Appends it to the summary file of the step. Rejects where the runner's file cannot be written. */
async function publishSummary(report) {
    await summary.addRaw(reportToMarkdown(report), true).write();
}


/***/ }),

/***/ 2621:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  Pt: () => (/* binding */ checkout),
  hd: () => (/* binding */ fetch),
  n8: () => (/* reexport */ fetch_error_formatThatRemoteHas),
  xC: () => (/* reexport */ parseEngineChoice),
  Ik: () => (/* reexport */ parseMemoryLimit),
  UZ: () => (/* reexport */ parseSparseSetting),
  q1: () => (/* reexport */ parseTransportChoice),
  jO: () => (/* reexport */ parseWorkers),
  Iz: () => (/* reexport */ spawnGit)
});

// UNUSED EXPORTS: clone, plan

// EXTERNAL MODULE: ./build/js/engine/errors.js
var engine_errors = __nccwpck_require__(390);
;// CONCATENATED MODULE: ./build/js/engine/checkout/request.js

/** This tree needs git, found out before anything was touched. */
class NeedsGit extends Error {
    reasons;
    constructor(reasons) {
        super(reasons.join('; '));
        this.reasons = reasons;
    }
}
/** Takes the time of one phase after the other. */
class PhaseClock {
    phases = [];
    #start = performance.now();
    /** A phase in the middle of another, whose time does not count for that one. */
    async within(name, work) {
        const start = performance.now();
        const value = await work();
        const ms = performance.now() - start;
        this.phases.push({ name, ms });
        this.#start += ms;
        return value;
    }
    end(name) {
        const now = performance.now();
        this.phases.push({ name, ms: now - this.#start });
        this.#start = now;
    }
}
/** @throws CheckoutError interrupted, once the caller wants the run to stop */
function stopIfAborted(request) {
    if (request.signal?.aborted === true)
        throw new engine_errors/* CheckoutError */.vd('interrupted', 'interrupted; the old index stays');
}

;// CONCATENATED MODULE: ./build/js/engine/index/index-table.js
/** Stat words per entry, in the order of the file. */
const STAT_WORDS = 10;
/** Place of each stat word within an entry's ten. */
const STAT = {
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
const index_table_EXTENDED_FLAG = { skipWorktree: 0x4000, intentToAdd: 0x2000 };
/** Mode bits as git stores them. */
const MODE = {
    typeMask: 0o170000,
    directory: 0o040000,
    regular: 0o100000,
    symlink: 0o120000,
    gitlink: 0o160000,
};

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __nccwpck_require__(6760);
// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __nccwpck_require__(7598);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __nccwpck_require__(3024);
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
 * Gives a large buffer's memory back at once rather than when garbage is next collected: moving it into a buffer of
 * length 0 frees it. Node 20 cannot; there it is left to the collector. (A resizable buffer could be shrunk, but code
 * that has met one is slower for every other buffer from then on: 0.6 s of 3.0 s CPU on the Linux tree.)
 */
function freeLarge(bytes) {
    const { transfer } = bytes.buffer;
    transfer?.call(bytes.buffer, 0);
}

;// CONCATENATED MODULE: ./build/js/engine/object/path-validity.js
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const SPACE = 0x20;
const COLON = 0x3a;
const TILDE = 0x7e;
const HAS_SLASH = 1;
const HAS_BACKSLASH = 2;
const HAS_NUL = 4;
const HAS_WINDOWS_ILLEGAL = 8;
/** What the presence of a byte anywhere in a name means. */
const BYTE_CLASS = new Uint8Array(256);
for (let byte = 1; byte < SPACE; byte++)
    BYTE_CLASS[byte] = HAS_WINDOWS_ILLEGAL;
for (const character of ':<>"|?*')
    BYTE_CLASS[character.charCodeAt(0)] = HAS_WINDOWS_ILLEGAL;
BYTE_CLASS[0] = HAS_NUL;
BYTE_CLASS[SLASH] = HAS_SLASH;
BYTE_CLASS[BACKSLASH] = HAS_BACKSLASH;
/** First bytes that a refused component without separators can have, away from Windows: `.`, `git~1`, `~1234567`, and
 * the UTF-8 lead bytes of the characters that HFS+ ignores. */
const SUSPECT_FIRST_BYTE = new Uint8Array(256);
for (const byte of [DOT, 0x67, 0x47, TILDE, 0xe2, 0xef])
    SUSPECT_FIRST_BYTE[byte] = 1;
const asciiBytes = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const GIT = asciiBytes('git');
const GITMODULES = asciiBytes('gitmodules');
const MODULES = asciiBytes('modules');
/** What NTFS makes of `.gitmodules` where `gitmod~1` to `gitmod~4` are taken: a prefix of this, `~` and digits. */
const GITMODULES_SHORT_HASH = asciiBytes('gi7eba');
/**
 * Why git would refuse the name of one tree entry, or null when the name is fine. `name[start, end)` is normally one
 * component. With '/' in it (a name in a tree may hold one, and a whole path may be given) each component is checked, and
 * a leading, doubled or trailing '/' is an empty one; of a sparse directory in an index leave the trailing '/' out.
 * `isSymlink` is about the entry itself. The reason completes "path … is refused: "; it never contains bytes of the name.
 *
 * A few leading directories are refused only because a symbolic link is below them (`.gitmodules/x`): give the whole path
 * of a link, and of everything else the components as they come.
 */
function invalidComponent(name, start, end, isSymlink, rules) {
    if (start >= end)
        return EMPTY;
    let seen = 0;
    for (let i = start; i < end; i++)
        seen |= BYTE_CLASS[name[i]];
    const separators = HAS_SLASH | HAS_BACKSLASH | HAS_NUL;
    if ((seen & separators) === 0 && !rules.windows && SUSPECT_FIRST_BYTE[name[start]] === 0)
        return null;
    if ((seen & HAS_NUL) !== 0)
        return 'it holds a NUL byte';
    if (rules.windows) {
        // git takes a backslash for a separator here when protectNTFS is off. Our tables know no such directories, so it is
        // refused either way.
        if ((seen & HAS_BACKSLASH) !== 0)
            return 'Windows takes a backslash for a directory separator';
        if (rules.ntfs && (seen & HAS_WINDOWS_ILLEGAL) !== 0)
            return 'it has a character that Windows does not allow';
    }
    let from = start;
    for (let i = start; i <= end; i++) {
        if (i < end && name[i] !== SLASH)
            continue;
        const reason = invalidBetweenSlashes(name, from, i, end, isSymlink, rules);
        if (reason !== null)
            return reason;
        from = i + 1;
    }
    return null;
}
const EMPTY = 'a component of it is empty';
/** One component `name[start, end)` of a name that goes on to `nameEnd`. */
function invalidBetweenSlashes(name, start, end, nameEnd, isSymlink, rules) {
    if (start === end)
        return EMPTY;
    if (name[start] === DOT) {
        const length = end - start;
        if (length === 1)
            return "a component of it is '.'";
        if (length === 2 && name[start + 1] === DOT)
            return "a component of it is '..'";
        if (hasPrefixIgnoringCase(name, start + 1, end, GIT)) {
            if (length === 4)
                return "a component of it is '.git'";
            if (isSymlink && length === 11 && hasPrefixIgnoringCase(name, start + 4, end, MODULES)) {
                return "a symbolic link has the component '.gitmodules'";
            }
        }
    }
    if (rules.ntfs) {
        const reason = ntfsReason(name, start, end, nameEnd, isSymlink);
        if (reason !== null)
            return reason;
    }
    if (rules.hfs) {
        if (isHfsDot(name, start, end, GIT))
            return "HFS+ takes a component of it for '.git'";
        if (isSymlink && isHfsDot(name, start, end, GITMODULES)) {
            return "HFS+ takes a component of a symbolic link for '.gitmodules'";
        }
    }
    return rules.windows ? windowsReason(name, start, end, rules) : null;
}
/** The byte as lower-case ASCII; other bytes are returned as they are. */
function lower(byte) {
    return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
/** Whether `name[at, end)` starts with `prefix`, which is lower-case ASCII. */
function hasPrefixIgnoringCase(name, at, end, prefix) {
    if (end - at < prefix.length)
        return false;
    for (let i = 0; i < prefix.length; i++)
        if (lower(name[at + i]) !== prefix[i])
            return false;
    return true;
}
// ---- NTFS ----
/** Backslashes start a new component here, except as the first byte of one, where git does not look. */
function ntfsReason(name, start, end, nameEnd, isSymlink) {
    for (let at = start; at < end; at++) {
        if (at === start || name[at] === BACKSLASH) {
            const from = at === start ? start : at + 1;
            if (isNtfsDotGit(name, from, nameEnd))
                return "NTFS takes a component of it for '.git'";
            if (isSymlink && isNtfsDotGitmodules(name, from, nameEnd)) {
                return "NTFS takes a component of a symbolic link for '.gitmodules'";
            }
        }
    }
    return null;
}
/** `.git` or `git~1`, then dots and spaces, then the end, a separator or the colon of a stream. */
function isNtfsDotGit(name, start, end) {
    let at = start;
    if (at >= end)
        return false;
    if (name[at] === DOT) {
        if (!hasPrefixIgnoringCase(name, at + 1, end, GIT))
            return false;
        at += 4;
    }
    else {
        if (!hasPrefixIgnoringCase(name, at, end, GIT))
            return false;
        if (at + 4 >= end || name[at + 3] !== TILDE || name[at + 4] !== 0x31)
            return false;
        at += 5;
    }
    for (; at < end; at++) {
        const byte = name[at];
        if (byte === BACKSLASH || byte === SLASH || byte === COLON)
            return true;
        if (byte !== DOT && byte !== SPACE)
            return false;
    }
    return true;
}
/** `.gitmodules`, `gitmod~1` to `~4`, or the hashed short name; then dots and spaces, then the end or a colon. */
function isNtfsDotGitmodules(name, start, end) {
    if (start >= end)
        return false;
    if (name[start] === DOT && hasPrefixIgnoringCase(name, start + 1, end, GITMODULES)) {
        return endsAfterDotsAndSpaces(name, start + 1 + GITMODULES.length, end);
    }
    if (end - start < 8)
        return false;
    const digit = name[start + 7];
    if (hasPrefixIgnoringCase(name, start, end, GITMODULES.subarray(0, 6)) &&
        name[start + 6] === TILDE &&
        digit >= 0x31 &&
        digit <= 0x34) {
        return endsAfterDotsAndSpaces(name, start + 8, end);
    }
    // The hashed form is always 8 bytes: 0 to 6 of the prefix, a tilde, a number that does not start with 0.
    let prefix = 0;
    while (prefix < 6 && lower(name[start + prefix]) === GITMODULES_SHORT_HASH[prefix])
        prefix++;
    if (name[start + prefix] !== TILDE)
        return false;
    for (let i = prefix + 1; i < 8; i++) {
        const byte = name[start + i];
        if (byte > 0x39 || byte < (i === prefix + 1 ? 0x31 : 0x30))
            return false;
    }
    return endsAfterDotsAndSpaces(name, start + 8, end);
}
function endsAfterDotsAndSpaces(name, start, end) {
    for (let at = start; at < end; at++) {
        const byte = name[at];
        if (byte === COLON)
            return true;
        if (byte !== DOT && byte !== SPACE)
            return false;
    }
    return true;
}
// ---- HFS+ ----
/** Position after the character that `nextHfsCharacter` read; a variable instead of a second result. */
let hfsPosition = 0;
/**
 * The next character that HFS+ does not ignore, from `at`; sets `hfsPosition`. 0 at the end, and for malformed UTF-8:
 * HFS+ would store that as something else, which git treats as the end of the name.
 */
function nextHfsCharacter(name, at, end) {
    let position = at;
    while (position < end) {
        const first = name[position];
        if (first < 0x80) {
            hfsPosition = position + 1;
            return first;
        }
        const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
        if (length === 0 || position + length > end)
            break;
        let code = first & (0x7f >> length);
        let wellFormed = true;
        for (let i = 1; i < length; i++) {
            const byte = name[position + i];
            if ((byte & 0xc0) !== 0x80)
                wellFormed = false;
            code = (code << 6) | (byte & 0x3f);
        }
        if (!wellFormed)
            break;
        const overlong = code < (length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000);
        if (overlong || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff)
            break;
        position += length;
        if (isIgnoredByHfs(code))
            continue;
        hfsPosition = position;
        return code;
    }
    hfsPosition = end;
    return 0;
}
/** Zero-width and direction characters; U+FEFF is the byte order mark. */
function isIgnoredByHfs(code) {
    return ((code >= 0x200c && code <= 0x200f) ||
        (code >= 0x202a && code <= 0x202e) ||
        (code >= 0x206a && code <= 0x206f) ||
        code === 0xfeff);
}
/** Whether HFS+ takes the component for '.' and `needle`. */
function isHfsDot(name, start, end, needle) {
    if (nextHfsCharacter(name, start, end) !== DOT)
        return false;
    for (const expected of needle) {
        if (lower(nextHfsCharacter(name, hfsPosition, end)) !== expected)
            return false;
    }
    return nextHfsCharacter(name, hfsPosition, end) === 0;
}
// ---- Windows ----
const AUX = asciiBytes('aux');
const PRN = asciiBytes('prn');
const NUL = asciiBytes('nul');
const CON = asciiBytes('con');
const COM = asciiBytes('com');
const LPT = asciiBytes('lpt');
const IN = asciiBytes('in$');
const OUT = asciiBytes('out$');
/** Illegal characters and backslashes have been looked for already. */
function windowsReason(name, start, end, rules) {
    // git refuses a drive only at the start of the path. A component does not know where it stands, and "dir/c:x" can do
    // no better on Windows than name a stream, so it is refused everywhere.
    if (hasDrivePrefix(name, start, end))
        return 'it starts like a Windows drive';
    if (!rules.ntfs)
        return null;
    const last = name[end - 1];
    if (last === SPACE || last === DOT)
        return 'Windows drops a space or dot at the end of a name';
    return isWindowsDevice(name, start, end) ? 'Windows takes it for a device' : null;
}
/** One character and a colon; `subst` makes a drive of any character, also of one of several bytes. */
function hasDrivePrefix(name, start, end) {
    let at = start + 1;
    if (name[start] >= 0x80)
        while (at < start + 4 && at < end && name[at] >= 0x80)
            at++;
    return at < end && name[at] === COLON;
}
/** AUX, PRN, NUL, CON, CONIN$, CONOUT$, COM1 to COM9, LPT0 to LPT9; an extension, a stream or spaces do not matter. */
function isWindowsDevice(name, start, end) {
    if (end - start < 3)
        return false;
    let at;
    if (hasPrefixIgnoringCase(name, start, end, AUX) ||
        hasPrefixIgnoringCase(name, start, end, PRN) ||
        hasPrefixIgnoringCase(name, start, end, NUL)) {
        at = start + 3;
    }
    else if (hasPrefixIgnoringCase(name, start, end, CON)) {
        at = start + 3;
        if (hasPrefixIgnoringCase(name, at, end, IN))
            at += IN.length;
        else if (hasPrefixIgnoringCase(name, at, end, OUT))
            at += OUT.length;
    }
    else if (hasPrefixIgnoringCase(name, start, end, COM) || hasPrefixIgnoringCase(name, start, end, LPT)) {
        const digit = start + 3 < end ? name[start + 3] : 0;
        if (digit > 0x39 || digit < (lower(name[start]) === 0x63 ? 0x31 : 0x30))
            return false;
        at = start + 4;
    }
    else {
        return false;
    }
    while (at < end && name[at] === SPACE)
        at++;
    return at >= end || name[at] === DOT || name[at] === COLON;
}

;// CONCATENATED MODULE: ./build/js/engine/index/parse-index.js
/**
 * Reading an index file, versions 2, 3 and 4, into flat tables. The file decides what a checkout removes, so a damaged or
 * forged one must end in an error: every length is checked against the file before anything of that size is allocated,
 * the order is checked, and so are the paths. Format: gitformat-index.
 */






const HEADER_BYTES = 12;
const STAT_BYTES = 4 * STAT_WORDS;
/** Beside its id an entry has, in every version, at least: stat, flags and 2 bytes that end or pad the name. */
const LEAST_BESIDE_OID_BYTES = STAT_BYTES + 4;
const NAME_LENGTH_MASK = 0xfff;
/**
 * Version 4 shares prefixes, so a small file can stand for very long names. No path that a system opens is longer than
 * PATH_MAX (4096 on Linux), and an entry has at least 64 bytes (76 with SHA-256): an honest file unfolds to at most 64 times its size.
 */
const MOST_UNFOLDING = 4096 / (LEAST_BESIDE_OID_BYTES + 20);
/** git knows nine extensions. */
const MOST_EXTENSIONS = 64;
/** Node reads at most this much at once, and Uint32Array offsets must hold the paths. */
const MOST_FILE_BYTES = 0x7fff_ffff;
/** Paths that no index may hold, whatever the configuration: those that leave the working tree or enter `.git`. */
const ALWAYS = { ntfs: false, hfs: false, windows: false };
/**
 * Parses a whole index file with its trailer (the trailer itself is checked by `readIndex`). Nothing in the file names the
 * `format` of its ids: the repository's is what it must have. `displayPath` names the file in errors. Extensions are
 * handed over unread; `readWholeIndex` deals with 'link' (split index) and 'sdir' (sparse index). With 'link' the entries are only the difference to a shared index: some have
 * empty paths, and their order says nothing.
 *
 * @throws CheckoutError index-corrupt
 */
function parseIndex(bytes, displayPath, format, time) {
    const reader = new IndexReader(bytes, displayPath, format);
    return reader.read(time ?? { mtimeSeconds: 0, mtimeNanoseconds: 0 });
}
/**
 * Reads and parses the index file at `path`; null when there is none. The trailing hash is verified unless it is all zeros
 * (index.skipHash), which git itself leaves to fsck.
 *
 * @param id what the trailing hash must be, in hexadecimal, where the file is known by it
 * @throws CheckoutError index-corrupt, io
 */
function readIndex(path, format, id) {
    let bytes;
    let time;
    try {
        // Non-blocking, so that a named pipe in its place is an error and not a wait. Windows has no such flag.
        const descriptor = (0,external_node_fs_.openSync)(path, external_node_fs_.constants.O_RDONLY | external_node_fs_.constants.O_NONBLOCK);
        try {
            const stat = (0,external_node_fs_.fstatSync)(descriptor, { bigint: true });
            if (!stat.isFile())
                throw corrupt(path, 'it is not a regular file');
            if (stat.size > MOST_FILE_BYTES)
                throw corrupt(path, `it is larger than ${MOST_FILE_BYTES} bytes`);
            bytes = readAll(descriptor, Number(stat.size), path);
            const mtimeSeconds = Math.floor(Number(stat.mtimeMs) / 1000);
            time = { mtimeSeconds, mtimeNanoseconds: Number(stat.mtimeNs - BigInt(mtimeSeconds) * 1000000000n) };
        }
        finally {
            (0,external_node_fs_.closeSync)(descriptor);
        }
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return null;
        throw (0,engine_errors/* ioError */.bD)('read the index', path, error);
    }
    const table = parseIndex(bytes, path, format, time);
    const end = bytes.length - format.oidBytes;
    const trailer = bytes.subarray(end);
    if (id !== undefined && trailer.toString('hex') !== id)
        throw corrupt(path, 'it is not the one that its name says');
    if (trailer.some((byte) => byte !== 0)) {
        const digest = (0,external_node_crypto_.createHash)(format.name).update(bytes.subarray(0, end)).digest();
        if (!digest.equals(trailer))
            throw corrupt(path, 'its checksum does not match');
    }
    return table;
}
function readAll(descriptor, size, path) {
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    while (at < size) {
        const got = (0,external_node_fs_.readSync)(descriptor, bytes, at, Math.min(size - at, MOST_AT_ONCE), at);
        if (got === 0)
            throw corrupt(path, 'it became shorter while it was read');
        at += got;
    }
    return bytes;
}
/** The error for an index file that does not hold what it must. `what` completes the sentence. */
function corrupt(displayPath, what) {
    return new engine_errors/* CheckoutError */.vd('index-corrupt', `index file '${displayPath}' is corrupt: ${what}`, { path: displayPath });
}
/** One pass that checks lengths and finds where names end, then the extensions, then a pass that fills the tables. */
class IndexReader {
    bytes;
    view;
    displayPath;
    format;
    /** Where the flags are in an entry, and the least size of one. */
    flagsAt;
    leastEntryBytes;
    /** Where the trailer begins. */
    end;
    version = 2;
    count = 0;
    // Results of `locate`, which would otherwise allocate one object per entry.
    extendedFlags = 0;
    nameAt = 0;
    dropped = 0;
    suffixLength = 0;
    next = 0;
    constructor(bytes, displayPath, format) {
        this.bytes = bufferOver(bytes);
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        this.displayPath = displayPath;
        this.format = format;
        this.flagsAt = STAT_BYTES + format.oidBytes;
        this.leastEntryBytes = LEAST_BESIDE_OID_BYTES + format.oidBytes;
        this.end = bytes.length - format.oidBytes;
    }
    read(time) {
        this.readHeader();
        const { count, bytes, view, format, flagsAt } = this;
        const { oidBytes } = format;
        const pathOffsets = new Uint32Array(count + 1);
        const extensionsAt = this.measure(pathOffsets);
        const extensions = this.readExtensions(extensionsAt);
        const pathBytes = new Uint8Array(pathOffsets[count]);
        const oids = new Uint8Array(count * oidBytes);
        const modes = new Uint32Array(count);
        const stats = new Uint32Array(count * STAT_WORDS);
        const flags = new Uint16Array(count);
        const extendedFlags = new Uint16Array(count);
        let at = HEADER_BYTES;
        for (let i = 0; i < count; i++) {
            const start = pathOffsets[i];
            this.locate(at, i, i === 0 ? 0 : start - pathOffsets[i - 1]);
            const shared = this.version === 4 && i > 0 ? start - pathOffsets[i - 1] - this.dropped : 0;
            if (shared > 0)
                pathBytes.copyWithin(start, pathOffsets[i - 1], pathOffsets[i - 1] + shared);
            const name = this.nameAt;
            const to = start + shared;
            for (let b = 0; b < this.suffixLength; b++)
                pathBytes[to + b] = bytes[name + b];
            for (let word = 0; word < STAT_WORDS; word++)
                stats[i * STAT_WORDS + word] = view.getUint32(at + 4 * word);
            for (let b = 0; b < oidBytes; b++)
                oids[i * oidBytes + b] = bytes[at + STAT_BYTES + b];
            modes[i] = this.checkMode(view.getUint32(at + 4 * STAT.mode), i);
            flags[i] = view.getUint16(at + flagsAt) & ~NAME_LENGTH_MASK;
            extendedFlags[i] = this.extendedFlags;
            at = this.next;
        }
        const table = {
            format,
            version: this.version,
            count,
            pathBytes,
            pathOffsets,
            oids,
            modes,
            stats,
            flags,
            extendedFlags,
            extensions,
            ...time,
        };
        if (!extensions.some((extension) => extension.signature === 'link'))
            checkPaths(table, this.displayPath);
        return table;
    }
    readHeader() {
        const { bytes, view } = this;
        if (bytes.length < HEADER_BYTES + this.format.oidBytes)
            throw this.error(`it has only ${bytes.length} bytes`);
        if (bytes.toString('latin1', 0, 4) !== 'DIRC')
            throw this.error('it has no index header');
        const version = view.getUint32(4);
        if (version !== 2 && version !== 3 && version !== 4)
            throw this.error(`version ${version} is unknown`);
        this.version = version;
        this.count = view.getUint32(8);
        if (this.count * this.leastEntryBytes > this.end - HEADER_BYTES) {
            throw this.error(`${this.count} entries do not fit its ${bytes.length} bytes`);
        }
    }
    /** Fills `pathOffsets` and returns where the entries end. */
    measure(pathOffsets) {
        const most = Math.min(this.bytes.length * MOST_UNFOLDING, MOST_FILE_BYTES);
        let at = HEADER_BYTES;
        let previous = 0;
        let total = 0;
        for (let i = 0; i < this.count; i++) {
            this.locate(at, i, previous);
            previous = (this.version === 4 ? previous - this.dropped : 0) + this.suffixLength;
            total += previous;
            if (total > most)
                throw this.error('its paths are too long');
            pathOffsets[i + 1] = total;
            at = this.next;
        }
        return at;
    }
    /** Finds the parts of entry `i` at `at`; `previousLength` is the length of the path before it. */
    locate(at, i, previousLength) {
        const { bytes, view, end, version, flagsAt } = this;
        if (at + this.leastEntryBytes > end)
            throw this.error(`it ends within entry ${i}`);
        const flags = view.getUint16(at + flagsAt);
        let nameAt = at + flagsAt + 2;
        this.extendedFlags = 0;
        if ((flags & FLAG.extended) !== 0) {
            this.extendedFlags = view.getUint16(nameAt);
            if ((this.extendedFlags & ~(index_table_EXTENDED_FLAG.skipWorktree | index_table_EXTENDED_FLAG.intentToAdd)) !== 0) {
                throw this.error(`entry ${i} has unknown flags`);
            }
            nameAt += 2;
        }
        let shared = 0;
        this.dropped = 0;
        if (version === 4) {
            nameAt = this.readDropped(nameAt, i);
            if (this.dropped > previousLength)
                throw this.error(`entry ${i} drops more of a path than there is`);
            shared = previousLength - this.dropped;
        }
        this.nameAt = nameAt;
        const known = flags & NAME_LENGTH_MASK;
        const nameEnd = known < NAME_LENGTH_MASK ? nameAt + known - shared : bytes.indexOf(0, nameAt);
        if (nameEnd < nameAt || nameEnd >= end || bytes[nameEnd] !== 0)
            throw this.error(`the path of entry ${i} does not end`);
        this.suffixLength = nameEnd - nameAt;
        if (known === NAME_LENGTH_MASK && shared + this.suffixLength < NAME_LENGTH_MASK) {
            throw this.error(`the path of entry ${i} is shorter than it says`);
        }
        this.next = version === 4 ? nameEnd + 1 : at + ((nameEnd - at + 8) & ~7);
        if (this.next > end)
            throw this.error(`it ends within entry ${i}`);
    }
    /** git's offset encoding: 7 bits a byte, most significant first, 1 added for each byte that goes on. */
    readDropped(at, i) {
        let value = 0;
        for (let position = at; position < this.end; position++) {
            const byte = this.bytes[position];
            value = value * 128 + (byte & 0x7f);
            if ((byte & 0x80) === 0) {
                this.dropped = value;
                return position + 1;
            }
            value++;
            if (value > MOST_FILE_BYTES)
                break;
        }
        throw this.error(`entry ${i} has a prefix length that does not end`);
    }
    readExtensions(start) {
        const extensions = [];
        let at = start;
        while (at < this.end) {
            if (at + 8 > this.end)
                throw this.error('it ends within an extension');
            const signature = this.bytes.toString('latin1', at, at + 4);
            if (!/^[A-Za-z][\x21-\x7e]{3}$/.test(signature))
                throw this.error(`there is no extension at byte ${at}`);
            const size = this.view.getUint32(at + 4);
            if (size > this.end - at - 8)
                throw this.error(`extension '${signature}' is longer than the file`);
            if (extensions.length === MOST_EXTENSIONS)
                throw this.error('it has too many extensions');
            // A copy, so that the file's buffer does not live as long as the table.
            extensions.push({ signature, bytes: new Uint8Array(this.bytes.subarray(at + 8, at + 8 + size)) });
            at += 8 + size;
        }
        return extensions;
    }
    /** Modes of a kind that git writes. Odd permission bits of old versions are kept: they match no tree entry. */
    checkMode(mode, i) {
        const type = mode & MODE.typeMask;
        const known = type === MODE.regular || type === MODE.symlink || type === MODE.gitlink || type === MODE.directory;
        if (!known || mode > 0xffff)
            throw this.error(`entry ${i} has mode ${mode.toString(8)}`);
        return mode;
    }
    error(what) {
        return corrupt(this.displayPath, what);
    }
}
/**
 * Checks that entries are in order, none is there twice, and every path stays in the working tree and out of `.git`.
 * @throws CheckoutError index-corrupt
 */
function checkPaths(table, displayPath) {
    const { count, pathBytes, pathOffsets, modes, flags } = table;
    for (let i = 0; i < count; i++) {
        const start = pathOffsets[i];
        let end = pathOffsets[i + 1];
        if (i > 0) {
            const order = comparePaths(pathBytes, pathOffsets[i - 1], start, start, end);
            const stageBefore = (flags[i - 1] & FLAG.stage) >> FLAG_STAGE_SHIFT;
            const stage = (flags[i] & FLAG.stage) >> FLAG_STAGE_SHIFT;
            if (order > 0)
                throw corrupt(displayPath, `entries ${i - 1} and ${i} are not in order`);
            if (order === 0 && (stageBefore === 0 || stageBefore >= stage)) {
                throw corrupt(displayPath, `entries ${i - 1} and ${i} have the same path`);
            }
        }
        const type = modes[i] & MODE.typeMask;
        if (type === MODE.directory && end > start && pathBytes[end - 1] === 0x2f)
            end--;
        const reason = invalidComponent(pathBytes, start, end, type === MODE.symlink, ALWAYS);
        if (reason !== null)
            throw corrupt(displayPath, `the path of entry ${i} is refused: ${reason}`);
    }
}
/** Order of two paths in one table: by bytes, the shorter first. */
function comparePaths(bytes, aStart, aEnd, bStart, bEnd) {
    const length = Math.min(aEnd - aStart, bEnd - bStart);
    for (let i = 0; i < length; i++) {
        const order = bytes[aStart + i] - bytes[bStart + i];
        if (order !== 0)
            return order;
    }
    return aEnd - aStart - (bEnd - bStart);
}

;// CONCATENATED MODULE: ./build/js/engine/object/tree.js
/** Modes as git writes them into an index; a tree entry is brought to one of these by its type bits. */
const MODE_FILE = 0o100644;
const MODE_EXECUTABLE = 0o100755;
const tree_MODE_SYMLINK = 0o120000;
const tree_MODE_TREE = 0o040000;
const tree_MODE_GITLINK = 0o160000;
const TYPE_MASK = 0o170000;
/** What git makes of a mode: anything that is not a file, link or directory counts as a submodule. */
function canonicalMode(mode) {
    switch (mode & TYPE_MASK) {
        case 0o100000:
            return mode & 0o100 ? MODE_EXECUTABLE : MODE_FILE;
        case 0o120000:
            return tree_MODE_SYMLINK;
        case 0o040000:
            return tree_MODE_TREE;
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
        this.isModeCanonical = mode === this.mode && nameStart - 1 - modeStart === (mode === tree_MODE_TREE ? 5 : 6);
        this.nameStart = nameStart;
        this.nameEnd = at;
        this.oidAt = at + 1;
        this.#at = at + 1 + this.#oidBytes;
        return 1;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/index/table-builder.js

/**
 * Most entries and bytes of paths. Ten times what the largest repositories have; a small file can name trees that stand for
 * more than fit any memory.
 */
const MOST_ENTRIES = 0xff_ffff;
const MOST_PATH_BYTES = 0x7fff_ffff;
class IndexTableBuilder {
    count = 0;
    /** Set when it would become larger than the bounds; what came after is not in it. */
    isFull = false;
    #oidBytes;
    #pathLength = 0;
    #pathBytes;
    #pathOffsets;
    #oids;
    #modes;
    #stats;
    #flags;
    #extendedFlags;
    /** Room for so many entries, with ids of that length, and bytes of paths; it grows when they do not suffice. */
    constructor(oidBytes, entries, pathBytes) {
        this.#oidBytes = oidBytes;
        this.#pathBytes = new Uint8Array(pathBytes);
        this.#pathOffsets = new Uint32Array(entries + 1);
        this.#oids = new Uint8Array(entries * this.#oidBytes);
        this.#modes = new Uint32Array(entries);
        this.#stats = new Uint32Array(entries * STAT_WORDS);
        this.#flags = new Uint16Array(entries);
        this.#extendedFlags = new Uint16Array(entries);
    }
    /** Puts bytes[start, end) behind the path of the entry that `add` will finish. */
    appendPath(bytes, start, end) {
        const length = this.#pathLength + end - start;
        if (length > this.#pathBytes.length) {
            if (length > MOST_PATH_BYTES) {
                this.isFull = true;
                return;
            }
            this.#pathBytes = grown(this.#pathBytes, new Uint8Array(Math.min(MOST_PATH_BYTES, 2 * length + 4096)));
        }
        const pathBytes = this.#pathBytes;
        for (let i = start, at = this.#pathLength; i < end; i++)
            pathBytes[at++] = bytes[i];
        this.#pathLength = length;
    }
    /** Adds an entry with the path that was appended, and no stat data. */
    add(mode, oids, oidAt, flags, extendedFlags) {
        const entry = this.count;
        if (entry === this.#modes.length) {
            if (entry >= MOST_ENTRIES)
                this.isFull = true;
            if (this.isFull)
                return;
            this.#grow();
        }
        const oidBytes = this.#oidBytes;
        for (let i = 0; i < oidBytes; i++)
            this.#oids[entry * oidBytes + i] = oids[oidAt + i];
        this.#modes[entry] = mode;
        this.#flags[entry] = flags;
        this.#extendedFlags[entry] = extendedFlags;
        this.#pathOffsets[entry + 1] = this.#pathLength;
        this.count = entry + 1;
    }
    /** Adds an entry as another table has it, with the path that was appended. */
    addFrom(table, entry) {
        this.add(table.modes[entry], table.oids, entry * this.#oidBytes, table.flags[entry], table.extendedFlags[entry]);
        if (this.isFull)
            return;
        const to = (this.count - 1) * STAT_WORDS;
        for (let i = 0; i < STAT_WORDS; i++)
            this.#stats[to + i] = table.stats[entry * STAT_WORDS + i];
    }
    /** The table; what is not in entries is `of`'s. */
    build(of, extensions) {
        const { count } = this;
        return {
            ...of,
            count,
            pathBytes: this.#pathBytes.subarray(0, this.#pathLength),
            pathOffsets: this.#pathOffsets.subarray(0, count + 1),
            oids: this.#oids.subarray(0, count * this.#oidBytes),
            modes: this.#modes.subarray(0, count),
            stats: this.#stats.subarray(0, count * STAT_WORDS),
            flags: this.#flags.subarray(0, count),
            extendedFlags: this.#extendedFlags.subarray(0, count),
            extensions,
        };
    }
    #grow() {
        const entries = Math.min(MOST_ENTRIES, 2 * this.count + 1024);
        this.#pathOffsets = grown(this.#pathOffsets, new Uint32Array(entries + 1));
        this.#oids = grown(this.#oids, new Uint8Array(entries * this.#oidBytes));
        this.#modes = grown(this.#modes, new Uint32Array(entries));
        this.#stats = grown(this.#stats, new Uint32Array(entries * STAT_WORDS));
        this.#flags = grown(this.#flags, new Uint16Array(entries));
        this.#extendedFlags = grown(this.#extendedFlags, new Uint16Array(entries));
    }
}
function grown(old, larger) {
    larger.set(old);
    return larger;
}

;// CONCATENATED MODULE: ./build/js/engine/index/sparse-index.js



/** Signature of the extension that an index with such entries has. */
const SDIR = 'sdir';
/** A tree may name one subtree many times, and so on: as many directories as a checkout takes at most, and as deep. */
const MOST_DIRECTORIES = 4_000_000;
const MOST_DEPTH = 2048;
/** Far beyond what any system opens; each file of a directory has its path in the table. */
const MOST_PATH_LENGTH = 1 << 16;
const sparse_index_SLASH = 0x2f;
function hasSparseDirectories(table) {
    for (let i = 0; i < table.count; i++)
        if ((table.modes[i] & MODE.typeMask) === MODE.directory)
            return true;
    return false;
}
/**
 * The index with files in place of directories, each marked skip-worktree.
 * @returns the table without the extension, its order not checked; or what is wrong with it
 * @throws CheckoutError what `readTree` throws
 */
function expandSparseIndex(table, readTree) {
    const extensions = table.extensions.filter(({ signature }) => signature !== SDIR);
    if (!hasSparseDirectories(table))
        return { ...table, extensions };
    if (extensions.length === table.extensions.length)
        return 'an entry is a directory and the index is not sparse';
    const { oidBytes } = table.format;
    const builder = new IndexTableBuilder(oidBytes, 2 * table.count, 2 * table.pathBytes.length);
    const directories = { count: 0 };
    for (let entry = 0; entry < table.count; entry++) {
        const start = table.pathOffsets[entry];
        const end = table.pathOffsets[entry + 1];
        if ((table.modes[entry] & MODE.typeMask) !== MODE.directory) {
            builder.appendPath(table.pathBytes, start, end);
            builder.addFrom(table, entry);
            continue;
        }
        if (table.pathBytes[end - 1] !== sparse_index_SLASH)
            return `entry ${entry} is a directory and does not end in '/'`;
        const wrong = expand(builder, oidBytes, table.pathBytes.slice(start, end), table.oids, entry * oidBytes, readTree, directories);
        if (wrong !== null)
            return wrong;
    }
    return builder.build(table, extensions);
}
/** Adds all files of a tree. `directory` ends in '/'. */
function expand(builder, oidBytes, directory, oids, oidAt, readTree, directories) {
    // The path of the tree that the walk is in; each frame says how much of it is its own.
    let path = new Uint8Array(directory.length + 4096);
    path.set(directory);
    const frames = [{ pathLength: directory.length, cursor: new TreeCursor(readTree(oids, oidAt), oidBytes) }];
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
        const { cursor, pathLength } = frame;
        const found = cursor.next();
        if (found < 0)
            return 'a tree of a sparse directory is not valid';
        if (found === 0) {
            frames.pop();
            continue;
        }
        if (cursor.mode !== tree_MODE_TREE) {
            builder.appendPath(path, 0, pathLength);
            builder.appendPath(cursor.bytes, cursor.nameStart, cursor.nameEnd);
            builder.add(cursor.mode, cursor.bytes, cursor.oidAt, 0, index_table_EXTENDED_FLAG.skipWorktree);
            if (builder.isFull)
                return 'its sparse directories have too many files';
            continue;
        }
        if (++directories.count > MOST_DIRECTORIES)
            return 'its sparse directories have too many directories';
        if (frames.length === MOST_DEPTH)
            return 'its sparse directories are too deep';
        const below = pathLength + cursor.nameEnd - cursor.nameStart + 1;
        if (below > path.length) {
            if (below > MOST_PATH_LENGTH)
                return 'a path in its sparse directories is too long';
            const longer = new Uint8Array(2 * below);
            longer.set(path);
            path = longer;
        }
        path.set(cursor.bytes.subarray(cursor.nameStart, cursor.nameEnd), pathLength);
        path[below - 1] = sparse_index_SLASH;
        frames.push({ pathLength: below, cursor: new TreeCursor(readTree(cursor.bytes, cursor.oidAt), oidBytes) });
    }
    return null;
}

;// CONCATENATED MODULE: ./build/js/engine/oid.js
const SHA1 = { name: 'sha1', oidBytes: 20 };
const oid_SHA256 = { name: 'sha256', oidBytes: 32 };
/** The longest id of any format: what a buffer for one must hold. */
const MAX_OID_BYTES = 32;
const HEX = /^[0-9a-f]+$/i;
/** Whether the text is a full id of the format: as many hexadecimal digits, small or capital, and nothing else. */
function isHexOid(text, format) {
    return text.length === 2 * format.oidBytes && HEX.test(text);
}
/** The format that the text is a full id of; null for anything else. */
function oid_formatOfHexOid(text) {
    return [SHA1, oid_SHA256].find((format) => isHexOid(text, format)) ?? null;
}
/** Hexadecimal digits -> bytes. The caller has checked the digits. */
function oidFromHex(hex) {
    return new Uint8Array(Buffer.from(hex, 'hex'));
}
/** The id that starts at `offset` of `bytes`, in hexadecimal. */
function oidToHex(bytes, offset, oidBytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + offset, oidBytes).toString('hex');
}
/** Whether the ids at two places are equal. */
function oidEquals(a, aOffset, b, bOffset, oidBytes) {
    for (let i = 0; i < oidBytes; i++)
        if (a[aOffset + i] !== b[bOffset + i])
            return false;
    return true;
}

;// CONCATENATED MODULE: ./build/js/engine/index/ewah.js
const ewah_HEADER_BYTES = 8;
const WORD_BYTES = 8;
const WORD_BITS = 64;
/** The place of the last marker word, which only a writer needs. */
const TRAILER_BYTES = 4;
/**
 * Reads the bitmap at `start`.
 * @param limit no bit from this one on may be set
 * @returns null when it is not whole, or sets a bit beyond the limit
 */
function readBitmap(bytes, start, limit) {
    if (start + ewah_HEADER_BYTES > bytes.length)
        return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const words = view.getUint32(start + 4);
    const wordsEnd = start + ewah_HEADER_BYTES + words * WORD_BYTES;
    if (wordsEnd + TRAILER_BYTES > bytes.length)
        return null;
    const positions = [];
    let bit = 0;
    for (let at = start + ewah_HEADER_BYTES; at < wordsEnd;) {
        const high = view.getUint32(at);
        const low = view.getUint32(at + 4);
        at += WORD_BYTES;
        // Bit 0: what the run consists of; bits 1 to 32: its words; bits 33 to 63: words that follow.
        const run = ((low >>> 1) + (high & 1) * 0x8000_0000) * WORD_BITS;
        if ((low & 1) !== 0) {
            if (bit + run > limit)
                return null;
            for (let i = 0; i < run; i++)
                positions.push(bit + i);
        }
        bit += run;
        const literals = high >>> 1;
        if (literals > (wordsEnd - at) / WORD_BYTES)
            return null;
        for (let i = 0; i < literals; i++, at += WORD_BYTES, bit += WORD_BITS) {
            for (let half = 0; half < 2; half++) {
                const from = bit + 32 * half;
                let rest = view.getUint32(at + 4 - 4 * half);
                while (rest !== 0) {
                    const lowest = 31 - Math.clz32(rest & -rest);
                    if (from + lowest >= limit)
                        return null;
                    positions.push(from + lowest);
                    rest = (rest & (rest - 1)) >>> 0;
                }
            }
        }
    }
    return { positions: Uint32Array.from(positions), end: wordsEnd + TRAILER_BYTES };
}

;// CONCATENATED MODULE: ./build/js/engine/index/split-index.js




/** Signature of the extension that makes an index split. */
const LINK = 'link';
/** The id of the shared index that `link` names, in hexadecimal; null when it names none, which is an index as any other. */
function sharedIndexId(link, { oidBytes }) {
    return link.subarray(0, oidBytes).some((byte) => byte !== 0) ? oidToHex(link, 0, oidBytes) : null;
}
/**
 * The whole index of a split one.
 * @param split the index file's own entries, first those that replace entries of the shared index and have no path
 * @param link content of its extension, at least an id long
 * @param shared null when `link` names none
 * @returns the table without the extension, its order not checked; or what is wrong with the split index
 */
function joinSplitIndex(split, link, shared) {
    const extensions = split.extensions.filter(({ signature }) => signature !== LINK);
    if (shared === null)
        return { ...split, extensions };
    const isDeleted = new Uint8Array(shared.count);
    /** For each shared entry, the entry of the split index that takes its place, counted from 1. */
    const replacedBy = new Uint32Array(shared.count);
    let replacements = 0;
    const { oidBytes } = split.format;
    if (link.length > oidBytes) {
        const deleted = readBitmap(link, oidBytes, shared.count);
        if (deleted === null)
            return 'the list of deleted entries is damaged';
        const replaced = readBitmap(link, deleted.end, shared.count);
        if (replaced === null)
            return 'the list of replaced entries is damaged';
        if (replaced.end !== link.length)
            return 'something follows the lists of the split index';
        for (const entry of deleted.positions)
            isDeleted[entry] = 1;
        if (replaced.positions.length > split.count)
            return 'there are fewer entries than replace others';
        for (const entry of replaced.positions) {
            if (isDeleted[entry] === 1)
                return `shared entry ${entry} is both deleted and replaced`;
            if (split.pathOffsets[replacements + 1] !== split.pathOffsets[replacements]) {
                return `entry ${replacements} replaces another and has a path`;
            }
            replacedBy[entry] = ++replacements;
        }
    }
    const builder = new IndexTableBuilder(oidBytes, shared.count + split.count - replacements, shared.pathBytes.length + split.pathBytes.length);
    const put = (names, named, table, entry) => {
        builder.appendPath(names.pathBytes, names.pathOffsets[named], names.pathOffsets[named + 1]);
        builder.addFrom(table, entry);
    };
    let added = replacements;
    for (let entry = 0; entry < shared.count; entry++) {
        if (isDeleted[entry] === 1)
            continue;
        let order = -1;
        while (added < split.count && (order = compareEntries(split, added, shared, entry)) < 0) {
            put(split, added, split, added);
            added++;
            order = -1;
        }
        // The same path again: git's later entry takes the place of the earlier one.
        if (added < split.count && order === 0)
            continue;
        const replacement = replacedBy[entry];
        if (replacement === 0)
            put(shared, entry, shared, entry);
        else
            put(shared, entry, split, replacement - 1);
    }
    for (; added < split.count; added++)
        put(split, added, split, added);
    if (builder.isFull)
        return 'it has too many entries';
    return builder.build(split, extensions);
}
/** Order in an index: bytes of the path, the shorter first, then the stage. */
function compareEntries(a, aEntry, b, bEntry) {
    const aStart = a.pathOffsets[aEntry];
    const bStart = b.pathOffsets[bEntry];
    const aLength = a.pathOffsets[aEntry + 1] - aStart;
    const bLength = b.pathOffsets[bEntry + 1] - bStart;
    const length = Math.min(aLength, bLength);
    for (let i = 0; i < length; i++) {
        const order = a.pathBytes[aStart + i] - b.pathBytes[bStart + i];
        if (order !== 0)
            return order;
    }
    if (aLength !== bLength)
        return aLength - bLength;
    return (a.flags[aEntry] & FLAG.stage) - (b.flags[bEntry] & FLAG.stage);
}

;// CONCATENATED MODULE: ./build/js/engine/index/read-whole-index.js
/**
 * Reads an index of whatever kind as one list of files: a split index is joined with its shared one, a sparse index
 * unfolded. What comes out has been checked as `parseIndex` checks an ordinary index.
 */




/**
 * The repository's index; null when there is none. Its modification time is that of the file at `indexPath`.
 * @param readTree reads trees for sparse directories; null leaves those as they are, for whoever only counts
 * @throws CheckoutError index-corrupt, io, and what `readTree` throws
 */
function read_whole_index_readWholeIndex(place, readTree) {
    const path = place.indexPath;
    const index = readIndex(path, place.objectFormat);
    if (index === null)
        return null;
    const joined = joinWithShared(index, place);
    if (readTree === null)
        return joined;
    const whole = expandSparseIndex(joined, readTree);
    if (typeof whole === 'string')
        throw corrupt(path, whole);
    if (whole.count !== joined.count)
        checkPaths(whole, path);
    return whole;
}
function joinWithShared(index, place) {
    const { indexPath: path, gitDir, objectFormat } = place;
    const link = index.extensions.find(({ signature }) => signature === LINK)?.bytes;
    if (link === undefined)
        return index;
    if (link.length < objectFormat.oidBytes)
        throw corrupt(path, 'it does not say which shared index it belongs to');
    const id = sharedIndexId(link, objectFormat);
    let shared = null;
    if (id !== null) {
        const sharedPath = (0,external_node_path_.join)(gitDir, `sharedindex.${id}`);
        shared = readIndex(sharedPath, objectFormat, id);
        if (shared === null)
            throw corrupt(path, `its shared index '${sharedPath}' is missing`);
        if (shared.extensions.some(({ signature }) => signature === LINK))
            throw corrupt(sharedPath, 'it is split itself');
    }
    const joined = joinSplitIndex(index, link, shared);
    if (typeof joined === 'string')
        throw corrupt(path, joined);
    checkPaths(joined, path);
    return joined;
}

;// CONCATENATED MODULE: ./build/js/engine/refs/ref-names.js
/**
 * Names of refs: which are valid (git-check-ref-format(1)), which belong to one working tree, and what a short name may
 * stand for (gitrevisions(7)). Strings, since a run handles a few of them.
 */



/** Longest name that we take. Linux allows 4095 bytes in a path, so git cannot store a longer one in a file either. */
const MAX_NAME_LENGTH = 4000;
/** Whether `name` may be a ref: one level is enough (HEAD). */
function ref_names_isValidRefName(name) {
    return (name.length > 0 &&
        name.length <= MAX_NAME_LENGTH &&
        name !== '@' &&
        // eslint-disable-next-line no-control-regex -- control characters are what git forbids
        !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
        !/\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) &&
        name.split('/').every((component) => !component.startsWith('.') && !component.endsWith('.lock')));
}
/** Whether `name` may be a branch: valid below refs/heads/, and not like an option or HEAD. */
function ref_names_isValidBranchName(name) {
    return !name.startsWith('-') && name !== 'HEAD' && ref_names_isValidRefName(`refs/heads/${name}`);
}
/** A pseudoref such as HEAD or FETCH_HEAD: a file beside `config`, told from it by its capitals. */
function isPseudoRef(name) {
    return /^[A-Z][A-Z_]*$/.test(name);
}
/** Whether each working tree has its own ref of this name (git-worktree(1), "REFS"). */
function isPerWorktree(name) {
    return !name.startsWith('refs/') || /^refs\/(bisect|worktree|rewritten)\//.test(name);
}
/** The loose file of a ref. The name has been checked: it cannot leave the directory. */
function ref_names_refPath(dirs, name) {
    return (0,external_node_path_.join)(isPerWorktree(name) ? dirs.gitDir : dirs.commonDir, name);
}
/** The log of a ref. */
function reflogPath(dirs, name) {
    return (0,external_node_path_.join)(isPerWorktree(name) ? dirs.gitDir : dirs.commonDir, 'logs', name);
}
/** What a short name may stand for; the first that exists is meant. */
function candidateNames(short) {
    const names = [
        `refs/${short}`,
        `refs/tags/${short}`,
        `refs/heads/${short}`,
        `refs/remotes/${short}`,
        `refs/remotes/${short}/HEAD`,
    ];
    if (isPseudoRef(short) || short.startsWith('refs/'))
        names.unshift(short);
    return names;
}
/** The branch's short name, or null for a ref that is no branch. */
function branchOf(refName) {
    return refName.startsWith('refs/heads/') ? refName.slice('refs/heads/'.length) : null;
}
/** A name for a message. */
function displayName(name) {
    return displayBytes(Buffer.from(name.length > 200 ? `${name.slice(0, 200)}…` : name));
}
/** The error for a name that does not resolve. */
function unknownRevision(text, why = 'is not known in this repository') {
    return new engine_errors/* CheckoutError */.vd('unknown-revision', `'${displayName(text)}' ${why}`, { option: displayName(text) });
}

;// CONCATENATED MODULE: ./build/js/engine/refs/read-refs.js
/**
 * Reads refs of the "files" format: loose files, then packed-refs. A ref file is somebody else's bytes: only its first
 * 4 KiB are looked at, only regular files are opened, and a chain of symbolic refs ends after five refs.
 */




/** Refs in a chain, the last one counted; git's own limit. */
const MAX_CHAIN = 5;
/** "ref: " and a path, or 64 digits: nothing valid is longer. */
const MAX_LOOSE_BYTES = 4096;
const NULL_OID = /^0+$/;
/**
 * A ref, or null when there is none of this name. Symbolic refs are not followed. The name must be valid.
 *
 * @param packed packed-refs, where several lookups in a row can share one reading (packedRefsOnce)
 */
function readRef(dirs, name, packed = packedRefsOnce(dirs)) {
    const loose = readLooseRef(dirs, name);
    if (loose !== null || isPerWorktree(name))
        return loose;
    const bytes = packed();
    return bytes === null ? null : findPackedRef(bytes, name);
}
/**
 * Follows symbolic refs from `name` to an object id.
 *
 * @returns null when `name` itself does not exist
 * @throws CheckoutError 'unknown-revision' for a ref file that holds neither, or a chain that is too long
 */
function read_refs_resolveRef(dirs, name, packed = packedRefsOnce(dirs)) {
    let current = name;
    for (let depth = 0; depth < MAX_CHAIN; depth++) {
        const value = readRef(dirs, current, packed);
        if (value === null)
            return depth === 0 ? null : { name: current, oid: null };
        if (value.kind === 'oid')
            return { name: current, oid: value.oid };
        current = value.target;
    }
    throw new engine_errors/* CheckoutError */.vd('unknown-revision', `the ref '${displayName(name)}' leads through too many symbolic refs`);
}
/** Whether a ref of this name exists, symbolic or not. */
function read_refs_refExists(dirs, name) {
    return readRef(dirs, name) !== null;
}
function readLooseRef(dirs, name) {
    const path = ref_names_refPath(dirs, name);
    let text;
    try {
        const stat = (0,external_node_fs_.lstatSync)(path);
        if (stat.isSymbolicLink()) {
            // The oldest form of a symbolic ref. A link that leads elsewhere is a file kept at another place.
            const target = (0,external_node_fs_.readlinkSync)(path);
            if (target.startsWith('refs/') && ref_names_isValidRefName(target))
                return { kind: 'symbolic', target };
        }
        else if (!stat.isFile()) {
            return null; // a directory of refs; anything else (a pipe) would block
        }
        text = readStart(path);
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
        // ENAMETOOLONG: no file has this name, and packed-refs may have the ref.
        if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'ENAMETOOLONG')
            return null;
        throw (0,engine_errors/* ioError */.bD)('read ref', path, error);
    }
    return parseLooseRef(text, name);
}
/** At most MAX_LOOSE_BYTES of a file, one character a byte. */
function readStart(path) {
    const file = (0,external_node_fs_.openSync)(path, 'r');
    try {
        const bytes = Buffer.allocUnsafe(MAX_LOOSE_BYTES);
        let length = 0;
        while (length < bytes.length) {
            const count = (0,external_node_fs_.readSync)(file, bytes, length, bytes.length - length, null);
            if (count === 0)
                break;
            length += count;
        }
        return bytes.toString('utf8', 0, length);
    }
    finally {
        (0,external_node_fs_.closeSync)(file);
    }
}
/**
 * The content of a ref file: "ref: NAME" or an object id; after the id anything may follow a blank (FETCH_HEAD).
 *
 * @throws CheckoutError 'unknown-revision' for anything else
 */
function parseLooseRef(text, name) {
    if (text.startsWith('ref:')) {
        const target = text.slice(4).trim();
        if (ref_names_isValidRefName(target) && text.length < MAX_LOOSE_BYTES)
            return { kind: 'symbolic', target };
    }
    else {
        const oid = /^([0-9a-f]{40}(?:[0-9a-f]{24})?)(?=\s|$)/i.exec(text)?.[1]?.toLowerCase();
        if (oid !== undefined && !NULL_OID.test(oid))
            return { kind: 'oid', oid };
    }
    throw new engine_errors/* CheckoutError */.vd('unknown-revision', `the ref '${displayName(name)}' is broken: its file holds neither an object id nor the name of a ref`, { option: displayName(name) });
}
/**
 * The bytes of packed-refs, or null when there is none.
 * @throws CheckoutError unknown-revision when it is cut off, io
 */
function readPackedRefs(dirs) {
    const path = (0,external_node_path_.join)(dirs.commonDir, 'packed-refs');
    let bytes;
    try {
        bytes = (0,external_node_fs_.readFileSync)(path);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return null;
        throw (0,engine_errors/* ioError */.bD)('read', path, error);
    }
    // What was cut off may be any ref; git refuses the whole file as well.
    if (bytes.length > 0 && bytes[bytes.length - 1] !== 10) {
        throw new engine_errors/* CheckoutError */.vd('unknown-revision', `'${path}' is cut off in the middle of a line`, { path });
    }
    return bytes;
}
/**
 * packed-refs, read when first needed and then kept: a short name may mean any of six refs, and a big file takes longer to
 * read than to search. For one lookup after another, not across changes.
 */
function packedRefsOnce(dirs) {
    let bytes;
    return () => (bytes ??= readPackedRefs(dirs));
}
/**
 * Looks a ref up in packed-refs: lines "OID NAME", of which no two have the same name. One search for the bytes of the
 * line's end finds it, sorted or not, and makes no object a ref: in 1,000,000 refs (69 MB, read in 30 to 85 ms) it takes
 * 7 to 16 ms.
 */
function findPackedRef(packed, name) {
    const needle = Buffer.from(` ${name}\n`, 'utf8');
    for (let at = packed.indexOf(needle); at >= 0; at = packed.indexOf(needle, at + 1)) {
        const start = packed.lastIndexOf(10, at) + 1;
        const oid = packed.toString('latin1', start, Math.min(at, start + 65));
        if (at - start === oid.length && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(oid) && !NULL_OID.test(oid)) {
            return { kind: 'oid', oid: oid.toLowerCase() };
        }
    }
    return null;
}
/**
 * A ref that cannot live beside `name`, since one's file would be the other's directory: 'refs/heads/a' against
 * 'refs/heads/a/b'. Null when there is none.
 */
function conflictingPackedRef(packed, name) {
    const below = packed.indexOf(Buffer.from(` ${name}/`, 'utf8'));
    if (below >= 0) {
        const end = packed.indexOf(10, below);
        return packed.toString('utf8', below + 1, end < 0 ? packed.length : end);
    }
    for (let slash = name.lastIndexOf('/'); slash > 'refs/'.length; slash = name.lastIndexOf('/', slash - 1)) {
        const parent = name.slice(0, slash);
        if (findPackedRef(packed, parent) !== null)
            return parent;
    }
    return null;
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

;// CONCATENATED MODULE: ./build/js/engine/sparse/matcher.js
const ALL = -1;
const NONE = -2;
/** Everything: what a checkout is that ends a sparse one. */
const EVERYTHING = { root: ALL, directory: () => ALL, includes: () => true };

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
        throw new engine_errors/* CheckoutError */.vd('memory', `cannot allocate ${bytes} bytes for the list of files`, {}, error);
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

;// CONCATENATED MODULE: ./build/js/engine/odb/read-tree.js



/**
 * The bytes of the tree whose id is at `oidAt`, a copy.
 * @throws CheckoutError object-missing, object-corrupt, tree-invalid when it is no tree; the error names the object
 */
function readTree(odb, oids, oidAt) {
    const content = odb.read(oids, oidAt);
    if (odb.reader.type !== TREE) {
        const hex = oidToHex(oids, oidAt, odb.format.oidBytes);
        throw new engine_errors/* CheckoutError */.vd('tree-invalid', `object ${hex} is a ${typeName(odb.reader.type)}, not a tree`, {
            oid: hex,
        });
    }
    const bytes = new Uint8Array(content);
    odb.reader.finish();
    return bytes;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/tree-totals.js
/**
 * How many directories and entries a tree stands for, without making a table of them: each tree object is read once, and
 * what it came to is remembered. A few objects that name each other again and again are found out by this at once; the walk
 * that fills tables would have filled gigabytes before it met its bounds.
 */




/** More different trees than this (100 MB of memory) are no trick: they take the room that their objects take on disk. */
const MOST_TREES = 500_000;
/** Twice what a checkout allows unless it is told otherwise. */
const tree_totals_MOST_DEPTH = 4096;
/**
 * Counts what is below a root tree. The numbers may be beyond all that is exact; then they are large.
 * @returns null where that cannot be said cheaply or at all; whoever walks the trees will meet what is wrong with them
 */
function treeTotals(odb, rootOid, mostTrees = MOST_TREES) {
    const { oidBytes } = odb.format;
    /** By id; null while the tree is being counted. */
    const known = new Map();
    const frames = [];
    const enter = (oid, oidAt, key) => {
        known.set(key, null);
        frames.push({ key, cursor: new TreeCursor(readTree(odb, oid, oidAt), oidBytes), directories: 1, entries: 0 });
    };
    const keyOf = (oid, oidAt) => bufferOver(oid, oidAt, oidAt + oidBytes).toString('latin1');
    try {
        enter(rootOid, 0, keyOf(rootOid, 0));
        for (;;) {
            const frame = frames[frames.length - 1];
            if (frame === undefined)
                return null;
            const { cursor } = frame;
            const found = cursor.next();
            if (found < 0)
                return null;
            if (found === 0) {
                frames.pop();
                const totals = { directories: frame.directories, entries: frame.entries };
                known.set(frame.key, totals);
                const above = frames[frames.length - 1];
                if (above === undefined)
                    return totals;
                add(above, totals);
                continue;
            }
            if (cursor.mode !== tree_MODE_TREE) {
                frame.entries++;
                continue;
            }
            const key = keyOf(cursor.bytes, cursor.oidAt);
            const totals = known.get(key);
            if (totals === null || frames.length >= tree_totals_MOST_DEPTH || known.size >= mostTrees)
                return null;
            if (totals === undefined)
                enter(cursor.bytes, cursor.oidAt, key);
            else
                add(frame, totals);
        }
    }
    catch (error) {
        if (error instanceof engine_errors/* CheckoutError */.vd)
            return null;
        throw error;
    }
}
function add(to, more) {
    to.directories += more.directories;
    to.entries += more.entries;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/manifest.js
/**
 * The manifest: what the commit's tree says should be on disk. Reads all trees of the commit, checks each name before anything
 * is touched, and fills the shared tables in index order.
 *
 * A directory whose tree the old index knows takes its entries from there, without reading the trees (index/known-trees.ts).
 *
 * Trees that git would not write (out of order, a name twice, a name with a slash) are noticed here, and settled after the walk by
 * odd-trees.ts.
 */









/** core.maxTreeDepth's default in git 2.44 and later. */
const MAX_TREE_DEPTH = 2048;
/**
 * A tree may name one subtree many times, and that one another, so that a few objects stand for more directories than anybody
 * could make. The largest repositories that we know of have some hundred thousand.
 */
const MAX_DIRECTORIES = 4_000_000;
/**
 * When a tree has come to these parts of its bounds, all of it is counted (tree-totals.ts) before the tables grow on: at 62,500
 * directories or a million entries. A bomb takes 150 MB then, all of Node with it, where it took over 1 GB.
 */
const COUNT_FROM = { directories: 1 / 64, entries: 1 / 16 };
const manifest_SLASH = 0x2f;
/**
 * Walks the trees from a root tree.
 * @throws CheckoutError path-invalid, tree-invalid, tree-too-deep, object-missing, object-corrupt
 */
function manifest_buildManifest(odb, rootOid, options) {
    return new ManifestBuilder(odb, options).build(rootOid);
}
class ManifestBuilder {
    #odb;
    #options;
    #tables;
    #oidBytes;
    #directories;
    #needsGit = new Set();
    #frames = [];
    /** The path of the directory that the walk is in, with its slash. */
    #prefix = new Uint8Array(4096);
    /** Met a tree whose entries git would not have in this order, or not all of them. */
    #odd = false;
    #notified = false;
    #counted = false;
    #rootOid = new Uint8Array(0);
    /** Regular files so far. */
    #files = 0;
    constructor(odb, options) {
        this.#odb = odb;
        this.#oidBytes = odb.format.oidBytes;
        this.#options = options;
        // A shallow repository has about as many objects as its commit has entries, so that the tables need not grow; memory that
        // is not touched costs nothing.
        const capacity = Math.min(Math.max(odb.packedObjects, 1024), 1 << 20);
        this.#tables = allocateTables(capacity, 32 * capacity, odb.format);
        this.#directories = newDirectories(1024, odb.format);
    }
    build(rootOid) {
        const { conversions } = this.#options;
        const maxDepth = this.#options.maxDepth ?? MAX_TREE_DEPTH;
        this.#rootOid = rootOid;
        this.#enter(rootOid, 0, -1, 0, this.#options.sparse?.root ?? ALL, 0);
        while (this.#frames.length > 0) {
            const frame = this.#frames[this.#frames.length - 1];
            if (frame === undefined)
                break;
            const { cursor } = frame;
            const found = cursor.next();
            if (found < 0) {
                throw this.#invalidTree(this.#directoryDisplay(frame), 'is damaged');
            }
            if (found === 0) {
                this.#leave(frame);
                if (frame.verdict !== NONE)
                    conversions?.leaveDirectory();
                continue;
            }
            this.#checkName(frame);
            this.#checkOrder(frame);
            if (!cursor.isModeCanonical)
                this.#directories.irregular[frame.directory] = 1;
            if (cursor.mode === tree_MODE_TREE) {
                if (this.#frames.length >= maxDepth) {
                    const where = this.#entryDisplay(frame);
                    throw new engine_errors/* CheckoutError */.vd('tree-too-deep', `'${where}' is more than ${maxDepth} directories deep`, {
                        path: where,
                    });
                }
                const length = frame.prefixLength + (cursor.nameEnd - cursor.nameStart);
                this.#extendPrefix(frame);
                const verdict = this.#verdict(frame, length);
                const known = this.#findKnown(frame);
                if (known >= 0 && this.#take(frame, known, verdict))
                    continue;
                this.#enter(cursor.bytes, cursor.oidAt, frame.directory, length + 1, verdict, known);
            }
            else {
                this.#addEntry(frame);
            }
        }
        return {
            tables: this.#tables,
            directories: this.#directories,
            needsGit: [...this.#needsGit],
            isOdd: this.#odd,
        };
    }
    /** Verdict on the directory of `length` bytes of path that is found in `frame`. */
    #verdict({ verdict, prefixLength }, length) {
        if (verdict === ALL || verdict === NONE)
            return verdict;
        return this.#options.sparse?.directory(this.#prefix, prefixLength, length, verdict) ?? ALL;
    }
    /** Refuses, when the tables have become unusually large, what would make them larger than they may be. */
    #checkTotals() {
        const { maxDirectories = MAX_DIRECTORIES, maxEntries = MAX_ENTRIES } = this.#options;
        this.#counted = true;
        const totals = treeTotals(this.#odb, this.#rootOid);
        if (totals === null)
            return;
        if (totals.directories > maxDirectories) {
            throw this.#invalidTree('', `has more than ${maxDirectories} directories`);
        }
        if (totals.entries > maxEntries)
            throw this.#invalidTree('', `has more than ${maxEntries} entries`);
    }
    /** @param known the directory's number in the old index, or -1 */
    #enter(oid, oidAt, parent, prefixLength, verdict, known) {
        const { maxDirectories = MAX_DIRECTORIES } = this.#options;
        if (!this.#counted && this.#directories.count > maxDirectories * COUNT_FROM.directories)
            this.#checkTotals();
        let bytes;
        try {
            bytes = this.#odb.read(oid, oidAt);
        }
        catch (error) {
            if (!(error instanceof engine_errors/* CheckoutError */.vd))
                throw error;
            const path = displayBytes(this.#prefix.subarray(0, Math.max(0, prefixLength - 1)));
            const what = path === '' ? 'the root tree' : `the tree of '${path}'`;
            throw new engine_errors/* CheckoutError */.vd(error.code, `cannot read ${what}: ${error.message}`, {
                ...error.subject,
                path: path === '' ? '.' : path,
            });
        }
        if (this.#odb.reader.type !== TREE) {
            const hex = oidToHex(oid, oidAt, this.#oidBytes);
            throw new engine_errors/* CheckoutError */.vd('tree-invalid', `object ${hex} is a ${typeName(this.#odb.reader.type)}, not a tree`, {
                oid: hex,
            });
        }
        const directories = this.#directories;
        const oidBytes = this.#oidBytes;
        if (directories.count >= maxDirectories)
            throw this.#invalidTree('', `has more than ${maxDirectories} directories`);
        for (const { directory } of this.#frames) {
            if (oidEquals(directories.oids, directory * oidBytes, oid, oidAt, oidBytes)) {
                throw this.#invalidTree(displayBytes(this.#prefix.subarray(0, prefixLength)), 'contains itself');
            }
        }
        if (directories.count === directories.parent.length)
            this.#directories = growDirectories(directories);
        const number = this.#directories.count++;
        this.#directories.parent[number] = parent;
        this.#directories.pathLength[number] = Math.max(0, prefixLength - 1);
        this.#directories.firstEntry[number] = this.#tables.count;
        this.#directories.oids.set(oid.subarray(oidAt, oidAt + oidBytes), number * oidBytes);
        // The entries are those of another tree.
        if (this.#odb.isReplaced(oid, oidAt))
            this.#directories.irregular[number] = 1;
        // The reader's bytes last until the next read only. Node's `slice` of a Buffer would not copy.
        const cursor = new TreeCursor(new Uint8Array(bytes), oidBytes);
        this.#odb.reader.finish();
        this.#frames.push({
            cursor,
            directory: number,
            prefixLength,
            previousStart: 0,
            previousEnd: 0,
            previousIsTree: false,
            nextKnown: this.#firstKnownBelow(known),
            verdict,
            candidates: [],
        });
        // Attributes matter to files that are written only.
        if (verdict !== NONE) {
            this.#options.conversions?.enterDirectory(cursor, this.#prefix.subarray(0, Math.max(0, prefixLength - 1)));
        }
        cursor.rewind();
    }
    #leave(frame) {
        this.#frames.pop();
        const directories = this.#directories;
        const count = this.#tables.count - (directories.firstEntry[frame.directory] ?? 0);
        directories.entryCount[frame.directory] = count;
        // git makes no directory for an empty tree.
        const parent = directories.parent[frame.directory] ?? -1;
        if (parent >= 0 && (count === 0 || directories.irregular[frame.directory] === 1))
            directories.irregular[parent] = 1;
    }
    #addEntry(frame) {
        const tables = this.#tables;
        const { cursor, prefixLength } = frame;
        const entry = tables.count;
        const { maxEntries = MAX_ENTRIES } = this.#options;
        if (entry >= maxEntries)
            throw this.#invalidTree('', `has more than ${maxEntries} entries`);
        if (!this.#counted && entry > maxEntries * COUNT_FROM.entries)
            this.#checkTotals();
        if (entry + 1 > tables.modes.length)
            growEntries(tables);
        const pathStart = tables.pathOffsets[entry] ?? 0;
        const nameLength = cursor.nameEnd - cursor.nameStart;
        const pathEnd = pathStart + prefixLength + nameLength;
        if (pathEnd > MAX_PATH_TABLE_BYTES)
            throw this.#invalidTree('', 'has more than 4 GiB of paths');
        if (pathEnd > tables.pathBytes.length)
            growPaths(tables, pathStart, prefixLength + nameLength);
        const { pathBytes } = tables;
        const prefix = this.#prefix;
        for (let i = 0; i < prefixLength; i++)
            pathBytes[pathStart + i] = prefix[i] ?? 0;
        const { bytes } = cursor;
        for (let i = cursor.nameStart, at = pathStart + prefixLength; i < cursor.nameEnd; i++) {
            const byte = bytes[i] ?? 0;
            if (byte === manifest_SLASH)
                this.#odd = true;
            pathBytes[at++] = byte;
        }
        tables.pathOffsets[entry + 1] = pathEnd;
        // Some rules for links look at the whole path.
        if (cursor.mode === tree_MODE_SYMLINK)
            this.#refuse(invalidComponent(pathBytes, pathStart, pathEnd, true, this.#options.rules), frame);
        const oidBytes = this.#oidBytes;
        for (let i = 0, at = entry * oidBytes; i < oidBytes; i++)
            tables.oids[at + i] = bytes[cursor.oidAt + i] ?? 0;
        tables.modes[entry] = cursor.mode;
        tables.directories[entry] = frame.directory;
        tables.count = entry + 1;
        if (!this.#isInside(frame, pathStart, pathEnd)) {
            tables.states[entry] = tables_State.SKIPPED;
            return;
        }
        if (pathEnd - pathStart > this.#options.maxPathBytes) {
            this.#refuseLength();
        }
        if (cursor.mode === tree_MODE_GITLINK || cursor.mode === tree_MODE_SYMLINK)
            return;
        const { conversions } = this.#options;
        if (conversions !== null)
            tables.conversions[entry] = conversions.lookUp(pathBytes, pathStart, pathEnd);
        this.#countFiles(1);
    }
    #countFiles(files) {
        this.#files += files;
        const { many } = this.#options;
        if (!this.#notified && many !== undefined && this.#files >= many.files) {
            this.#notified = true;
            many.notify();
        }
    }
    /** The first directory right below one of the old index, or -1. */
    #firstKnownBelow(known) {
        const trees = this.#options.known;
        return trees !== undefined && known >= 0 && known + 1 < (trees.end[known] ?? 0) ? known + 1 : -1;
    }
    /**
     * The number in the old index of the directory that the frame's cursor is at, or -1. Both sides come in the order of the index,
     * so that each is passed once; of a tree in another order some directories are not found, and read.
     */
    #findKnown(frame) {
        const trees = this.#options.known;
        if (trees === undefined)
            return -1;
        const { cursor, prefixLength } = frame;
        const length = cursor.nameEnd - cursor.nameStart;
        while (frame.nextKnown >= 0) {
            const known = frame.nextKnown;
            const nameAt = (trees.index.pathOffsets[trees.firstEntry[known] ?? 0] ?? 0) + prefixLength;
            const order = compareDirectoryNames(trees.index.pathBytes, nameAt, (trees.pathLength[known] ?? 0) - prefixLength, cursor.bytes, cursor.nameStart, length);
            if (order > 0)
                return -1;
            const after = trees.end[known] ?? 0;
            const parent = trees.parent[known] ?? 0;
            frame.nextKnown = after < (trees.end[parent] ?? 0) ? after : -1;
            if (order === 0)
                return known;
        }
        return -1;
    }
    /** Takes all of the directory at the frame's cursor from the old index, if that is the same tree; false if it must be read. */
    #take(frame, known, verdict) {
        const trees = this.#options.known;
        const tables = this.#tables;
        const { cursor } = frame;
        const oidBytes = this.#oidBytes;
        if (trees?.isKnown[known] !== 1)
            return false;
        if (!oidEquals(trees.oids, known * oidBytes, cursor.bytes, cursor.oidAt, oidBytes))
            return false;
        // A sparse checkout that decides file by file.
        if (verdict !== ALL && verdict !== NONE)
            return false;
        const { index } = trees;
        const { maxDepth = MAX_TREE_DEPTH, maxEntries = MAX_ENTRIES, maxDirectories = MAX_DIRECTORIES, maxPathBytes, } = this.#options;
        const first = trees.firstEntry[known] ?? 0;
        const count = trees.entryCount[known] ?? 0;
        const endKnown = trees.end[known] ?? 0;
        const entry = tables.count;
        const pathFrom = index.pathOffsets[first] ?? 0;
        const pathBytes = (index.pathOffsets[first + count] ?? 0) - pathFrom;
        const pathStart = tables.pathOffsets[entry] ?? 0;
        const directory = this.#directories.count;
        // The walk has words for what is beyond a bound.
        if (this.#frames.length + (trees.height[known] ?? 0) > maxDepth)
            return false;
        if (entry + count > maxEntries || directory + endKnown - known > maxDirectories)
            return false;
        if (pathStart + pathBytes > MAX_PATH_TABLE_BYTES)
            return false;
        this.#checkTaken(trees, known);
        while (entry + count > tables.modes.length)
            growEntries(tables);
        if (pathStart + pathBytes > tables.pathBytes.length)
            growPaths(tables, pathStart, pathBytes);
        tables.pathBytes.set(index.pathBytes.subarray(pathFrom, pathFrom + pathBytes), pathStart);
        tables.oids.set(index.oids.subarray(first * oidBytes, (first + count) * oidBytes), entry * oidBytes);
        tables.modes.set(index.modes.subarray(first, first + count), entry);
        let files = 0;
        let longest = 0;
        for (let i = 0; i < count; i++) {
            const end = (index.pathOffsets[first + i + 1] ?? 0) - pathFrom + pathStart;
            tables.pathOffsets[entry + i + 1] = end;
            longest = Math.max(longest, end - (tables.pathOffsets[entry + i] ?? 0));
            tables.directories[entry + i] = (trees.directoryOf[first + i] ?? 0) - known + directory;
            const mode = tables.modes[entry + i];
            if (mode !== tree_MODE_SYMLINK && mode !== tree_MODE_GITLINK)
                files++;
        }
        tables.count = entry + count;
        while (directory + endKnown - known > this.#directories.parent.length) {
            this.#directories = growDirectories(this.#directories);
        }
        const directories = this.#directories;
        for (let from = known, to = directory; from < endKnown; from++, to++) {
            directories.parent[to] = from === known ? frame.directory : (trees.parent[from] ?? 0) - known + directory;
            directories.pathLength[to] = trees.pathLength[from] ?? 0;
            directories.firstEntry[to] = (trees.firstEntry[from] ?? 0) - first + entry;
            directories.entryCount[to] = trees.entryCount[from] ?? 0;
        }
        directories.oids.set(trees.oids.subarray(known * oidBytes, endKnown * oidBytes), directory * oidBytes);
        directories.count = directory + endKnown - known;
        if (verdict === NONE) {
            tables.states.fill(tables_State.SKIPPED, entry, entry + count);
            return true;
        }
        if (longest > maxPathBytes)
            this.#refuseLength();
        this.#countFiles(files);
        return true;
    }
    /** The names of what is taken are held against the rules of today as those in trees are; the index may be of other times. */
    #checkTaken({ index, ...trees }, known) {
        const { pathBytes, pathOffsets, modes } = index;
        const { rules } = this.#options;
        const check = (start, nameAt, end, isSymlink) => {
            const reason = invalidComponent(pathBytes, nameAt, end, isSymlink, rules);
            if (reason !== null)
                throw refused(displayBytes(pathBytes.subarray(start, end)), reason);
        };
        const nameOffset = (directory) => {
            const length = trees.pathLength[directory] ?? 0;
            return length === 0 ? 0 : length + 1;
        };
        const end = trees.end[known] ?? 0;
        for (let directory = known + 1; directory < end; directory++) {
            const start = pathOffsets[trees.firstEntry[directory] ?? 0] ?? 0;
            const nameAt = start + nameOffset(trees.parent[directory] ?? 0);
            check(start, nameAt, start + (trees.pathLength[directory] ?? 0), false);
        }
        const first = trees.firstEntry[known] ?? 0;
        const endEntry = first + (trees.entryCount[known] ?? 0);
        for (let entry = first; entry < endEntry; entry++) {
            const start = pathOffsets[entry] ?? 0;
            const pathEnd = pathOffsets[entry + 1] ?? 0;
            const isSymlink = modes[entry] === tree_MODE_SYMLINK;
            check(start, start + nameOffset(trees.directoryOf[entry] ?? 0), pathEnd, isSymlink);
            // Some rules for links look at the whole path.
            if (isSymlink)
                check(start, start, pathEnd, true);
        }
    }
    #isInside({ verdict, cursor, prefixLength }, start, end) {
        if (verdict === ALL)
            return true;
        if (verdict === NONE)
            return false;
        const { sparse, hasDirectory } = this.#options;
        const { pathBytes } = this.#tables;
        const isDirectory = cursor.mode === tree_MODE_GITLINK && (hasDirectory?.(pathBytes, start, end) ?? false);
        return sparse?.includes(pathBytes, start, start + prefixLength, end, isDirectory, verdict) ?? true;
    }
    #refuseLength() {
        this.#needsGit.add('a path is too long to be opened by its absolute name');
    }
    #checkName(frame) {
        const { cursor } = frame;
        const reason = invalidComponent(cursor.bytes, cursor.nameStart, cursor.nameEnd, cursor.mode === tree_MODE_SYMLINK, this.#options.rules);
        this.#refuse(reason, frame);
    }
    #refuse(reason, frame) {
        if (reason === null)
            return;
        throw refused(this.#entryDisplay(frame), reason);
    }
    /**
     * Trees must be sorted as git sorts them, names of directories as if they ended in a slash, and no name may occur twice. A
     * file "a" and a directory "a" need not be neighbours ("a.b" sorts between them), so files that are a prefix of their
     * successor are remembered.
     */
    #checkOrder(frame) {
        const { cursor } = frame;
        const { bytes, nameStart, nameEnd } = cursor;
        const isTree = cursor.mode === tree_MODE_TREE;
        const { previousStart, previousEnd } = frame;
        if (previousEnd > 0) {
            const previousLength = previousEnd - previousStart;
            const length = nameEnd - nameStart;
            const least = previousLength < length ? previousLength : length;
            let i = 0;
            while (i < least && bytes[previousStart + i] === bytes[nameStart + i])
                i++;
            const a = i < previousLength ? (bytes[previousStart + i] ?? 0) : frame.previousIsTree ? manifest_SLASH : 0;
            const b = i < length ? (bytes[nameStart + i] ?? 0) : isTree ? manifest_SLASH : 0;
            if (a >= b)
                this.#odd = true;
            if (i === previousLength && !frame.previousIsTree)
                frame.candidates.push(previousStart, previousEnd);
            if (frame.candidates.length > 0)
                this.#checkCandidates(frame, isTree);
        }
        frame.previousStart = nameStart;
        frame.previousEnd = nameEnd;
        frame.previousIsTree = isTree;
    }
    #checkCandidates(frame, isTree) {
        const { candidates, cursor } = frame;
        const { bytes, nameStart, nameEnd } = cursor;
        while (candidates.length > 0) {
            const end = candidates[candidates.length - 1] ?? 0;
            const start = candidates[candidates.length - 2] ?? 0;
            const length = end - start;
            let i = 0;
            while (i < length && nameStart + i < nameEnd && bytes[start + i] === bytes[nameStart + i])
                i++;
            if (i === length) {
                if (isTree && nameEnd - nameStart === length)
                    this.#odd = true;
                return;
            }
            candidates.length -= 2;
        }
    }
    #extendPrefix(frame) {
        const { cursor, prefixLength } = frame;
        const length = prefixLength + (cursor.nameEnd - cursor.nameStart) + 1;
        if (length > this.#prefix.length) {
            const grown = new Uint8Array(length * 2);
            grown.set(this.#prefix);
            this.#prefix = grown;
        }
        this.#prefix.set(cursor.bytes.subarray(cursor.nameStart, cursor.nameEnd), prefixLength);
        this.#prefix[length - 1] = manifest_SLASH;
        for (let i = cursor.nameStart; i < cursor.nameEnd; i++) {
            if (cursor.bytes[i] === manifest_SLASH)
                this.#odd = true;
        }
    }
    /** `where` is the directory with its slash, empty for the root. */
    #invalidTree(where, how) {
        const path = where === '' ? '.' : where;
        return new engine_errors/* CheckoutError */.vd('tree-invalid', `the ${where === '' ? 'root tree' : `tree of '${where}'`} ${how}`, {
            path,
        });
    }
    #directoryDisplay(frame) {
        return displayBytes(this.#prefix.subarray(0, frame.prefixLength));
    }
    #entryDisplay(frame) {
        const { cursor } = frame;
        return this.#directoryDisplay(frame) + displayBytes(cursor.bytes.subarray(cursor.nameStart, cursor.nameEnd));
    }
}
function refused(path, reason) {
    return new engine_errors/* CheckoutError */.vd('path-invalid', `refusing to check out '${path}': ${reason}`, { path });
}
/** Order of two names of directories as trees have it, each as if it ended in a slash. */
function compareDirectoryNames(a, aStart, aLength, b, bStart, bLength) {
    const least = aLength < bLength ? aLength : bLength;
    for (let i = 0; i < least; i++) {
        const order = (a[aStart + i] ?? 0) - (b[bStart + i] ?? 0);
        if (order !== 0)
            return order;
    }
    if (aLength === bLength)
        return 0;
    return aLength < bLength ? manifest_SLASH - (b[bStart + least] ?? 0) : (a[aStart + least] ?? 0) - manifest_SLASH;
}
/** Room for so many directories; none is in it. */
function newDirectories(capacity, format) {
    return {
        format,
        count: 0,
        parent: new Int32Array(capacity),
        pathLength: new Uint32Array(capacity),
        firstEntry: new Uint32Array(capacity),
        entryCount: new Uint32Array(capacity),
        irregular: new Uint8Array(capacity),
        oids: new Uint8Array(capacity * format.oidBytes),
    };
}
/** The same directories with room for as many more. */
function growDirectories(directories) {
    const grown = newDirectories(directories.parent.length * 2, directories.format);
    grown.count = directories.count;
    grown.parent.set(directories.parent);
    grown.pathLength.set(directories.pathLength);
    grown.firstEntry.set(directories.firstEntry);
    grown.entryCount.set(directories.entryCount);
    grown.irregular.set(directories.irregular);
    grown.oids.set(directories.oids);
    return grown;
}

;// CONCATENATED MODULE: ./build/js/engine/odb/alternates.js
/**
 * Object directories: a repository's own and those that it borrows from (gitrepository-layout, objects/info/alternates).
 */



/** git reads the alternates of alternates this deep: of the repository itself (0) and of five borrowed directories in a row. */
const MAX_DEPTH = 5;
/** An alternates file is a list of paths; one larger than this is not one. */
const MAX_FILE_BYTES = 1 << 20;
const ESCAPES = {
    a: 7,
    b: 8,
    t: 9,
    n: 10,
    v: 11,
    f: 12,
    r: 13,
    '"': 34,
    '\\': 92,
};
/** Undoes git's C-style quoting of what begins at `start`; null when it is not well-formed. `end` is behind the last quote. */
function unquoteC(source, start) {
    const out = [];
    for (let i = start + 1; i < source.length; i++) {
        const byte = source[i] ?? 0;
        if (byte === 0x22)
            return { text: Buffer.from(out).toString('utf8'), end: i + 1 };
        if (byte !== 0x5c) {
            out.push(byte);
            continue;
        }
        const next = String.fromCharCode(source[++i] ?? 0);
        const escape = ESCAPES[next];
        if (escape !== undefined) {
            out.push(escape);
        }
        else if (/[0-3]/.test(next)) {
            const octal = source.subarray(i, i + 3).toString('latin1');
            if (!/^[0-3][0-7]{2}$/.test(octal))
                return null;
            out.push(parseInt(octal, 8));
            i += 2;
        }
        else {
            return null;
        }
    }
    return null;
}
/**
 * Takes a list of directories apart, as git does: comments and empty entries are skipped, and an entry may be quoted.
 * @param separator one character
 */
function parseList(source, separator) {
    const entries = [];
    for (let at = 0; at < source.length;) {
        const quoted = source[at] === 0x22 ? unquoteC(source, at) : null;
        let end = quoted?.end ?? source.indexOf(separator, at);
        if (end < 0)
            end = source.length;
        const entry = quoted?.text ?? source.toString('utf8', at, end);
        if (entry !== '' && source[at] !== 0x23)
            entries.push(entry);
        at = end + 1;
    }
    return entries;
}
/**
 * Lists the object directories in look-up order: the repository's own, those of GIT_ALTERNATE_OBJECT_DIRECTORIES, and
 * then its alternates; each of these followed by its own alternates. Missing ones are left out and told to `warn`, as git does.
 * @param environmentList value of GIT_ALTERNATE_OBJECT_DIRECTORIES, or ''
 * @param base what relative ones in that list are relative to: git looks from the top of the working tree
 */
function objectDirectories(ownDirectory, environmentList, base, warn) {
    const found = [];
    const seen = new Set();
    const add = (directory, depth, own) => {
        let identity;
        try {
            identity = (0,external_node_fs_.realpathSync)(directory);
            if (!(0,external_node_fs_.statSync)(identity).isDirectory())
                throw new Error('not a directory');
        }
        catch (error) {
            if (own)
                throw (0,engine_errors/* ioError */.bD)('open', directory, error);
            warn(`object directory '${directory}' does not exist; check objects/info/alternates`);
            return;
        }
        if (seen.has(identity))
            return;
        seen.add(identity);
        found.push(directory);
        if (!own)
            addAlternates(directory, depth);
    };
    const addAlternates = (directory, depth) => {
        const entries = readAlternates(directory);
        if (depth > MAX_DEPTH && entries.length > 0) {
            warn(`alternates of '${directory}' are nested too deep and ignored`);
            return;
        }
        for (const entry of entries)
            add((0,external_node_path_.isAbsolute)(entry) ? entry : (0,external_node_path_.resolve)(directory, entry), depth + 1, false);
    };
    add(ownDirectory, 0, true);
    const separator = process.platform === 'win32' ? ';' : ':';
    for (const entry of parseList(Buffer.from(environmentList, 'utf8'), separator)) {
        add((0,external_node_path_.isAbsolute)(entry) ? entry : (0,external_node_path_.resolve)(base, entry), 1, false);
    }
    addAlternates(ownDirectory, 0);
    return found;
}
function readAlternates(directory) {
    const path = (0,external_node_path_.join)(directory, 'info', 'alternates');
    let bytes;
    try {
        bytes = (0,external_node_fs_.readFileSync)(path);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT' || (0,engine_errors/* errnoOf */.UQ)(error) === 'ENOTDIR')
            return [];
        throw (0,engine_errors/* ioError */.bD)('read', path, error);
    }
    return bytes.length > MAX_FILE_BYTES ? [] : parseList(bytes, '\n');
}

;// CONCATENATED MODULE: ./build/js/engine/pack/delta-base-cache.js
/** Packs that can be numbered: what 53 bits leave beside offsets of 40 bits (1 TiB, see pack-file.ts). */
const MAX_PACKS = 2 ** 13;
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
        (0,external_node_fs_.closeSync)(fd);
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
                check?.((0,external_node_fs_.fstatSync)(fd).size);
            }
            catch (error) {
                closeRead(fd);
                throw (0,engine_errors/* ioError */.bD)('read', file.path, error);
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
                return (0,external_node_fs_.openSync)(file.path, 'r');
            }
            catch (error) {
                const errno = (0,engine_errors/* errnoOf */.UQ)(error);
                // The process has no more to give: one of ours goes.
                if ((errno === 'EMFILE' || errno === 'ENFILE') && this.#open.size > 0)
                    this.#closeOldest();
                else
                    throw (0,engine_errors/* ioError */.bD)('open', file.path, error);
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
const MOST_BYTES = 2 ** 40;
/**
 * Opens a pack and checks it against its index: signature, version, number of objects, checksum (compared, not
 * computed: git does the same).
 * @throws CheckoutError object-corrupt, io
 */
function openPack(path, indexPath, index) {
    const { oidBytes } = index;
    const corrupt = (how) => new engine_errors/* CheckoutError */.vd('object-corrupt', `pack '${path}' ${how}`, { path });
    let fd;
    try {
        fd = (0,external_node_fs_.openSync)(path, 'r');
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('open', path, error);
    }
    try {
        const stat = (0,external_node_fs_.fstatSync)(fd);
        if (!stat.isFile())
            throw corrupt('is not a regular file');
        const size = stat.size;
        if (size > MOST_BYTES)
            throw new engine_errors/* CheckoutError */.vd('unsupported', 'a pack is larger than 1 TiB', { path });
        if (size < PACK_HEADER_BYTES + oidBytes)
            throw corrupt('is too small');
        const head = Buffer.alloc(PACK_HEADER_BYTES);
        (0,external_node_fs_.readSync)(fd, head, 0, PACK_HEADER_BYTES, 0);
        if (head.readUInt32BE(0) !== SIGNATURE)
            throw corrupt('does not begin with PACK');
        const version = head.readUInt32BE(4);
        if (version !== 2 && version !== 3)
            throw corrupt(`has version ${version}`);
        if (head.readUInt32BE(8) !== index.count)
            throw corrupt('and its index disagree about the number of objects');
        const trailer = Buffer.alloc(oidBytes);
        (0,external_node_fs_.readSync)(fd, trailer, 0, oidBytes, size - oidBytes);
        if (!trailer.equals(index.packChecksum()))
            throw corrupt('and its index disagree about its checksum');
        return { path, indexPath, fd, end: size - oidBytes, size };
    }
    catch (error) {
        (0,external_node_fs_.closeSync)(fd);
        throw (0,engine_errors/* ioError */.bD)('read', path, error);
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
            this.size = (0,external_node_fs_.fstatSync)(fd).size;
        }
        catch (error) {
            throw (0,engine_errors/* ioError */.bD)('read', path, error);
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
                read = (0,external_node_fs_.readSync)(fd, into, done, into.length - done, position + done);
            }
            catch (error) {
                throw (0,engine_errors/* ioError */.bD)('read', this.path, error);
            }
            if (read === 0)
                throw this.corrupt('ends early');
            done += read;
        }
    }
    corrupt(how) {
        return new engine_errors/* CheckoutError */.vd('object-corrupt', `${this.#what} '${this.path}' ${how}`, { path: this.path });
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
    return error instanceof engine_errors/* CheckoutError */.vd && error.subject.errno !== 'EMFILE' && error.subject.errno !== 'ENFILE';
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
                read = (0,external_node_fs_.readSync)(fd, into, done, Math.min(length - done, MOST_AT_ONCE), offset + done);
            }
            catch (error) {
                throw (0,engine_errors/* ioError */.bD)('read', file.path, error);
            }
            if (read === 0)
                throw this.corrupt(pack, offset, 'is cut off');
            done += read;
        }
    }
    /** The error for an entry that is not what it must be. */
    corrupt(pack, offset, how) {
        const { path } = this.file(pack);
        return new engine_errors/* CheckoutError */.vd('object-corrupt', `pack '${path}': the entry at offset ${offset} ${how}`, { path });
    }
    /** A pack that is opened again must be the one that was found. */
    #open(file) {
        try {
            return this.#pool.fd(file, (size) => {
                if (size === file.size)
                    return;
                throw new engine_errors/* CheckoutError */.vd('object-corrupt', `pack '${file.path}' has changed`, { path: file.path });
            });
        }
        catch (error) {
            if ((0,engine_errors/* errnoOf */.UQ)(error.cause) !== 'ENOENT')
                throw error;
            // A concurrent repack may have removed it.
            throw new engine_errors/* CheckoutError */.vd('object-missing', `pack '${file.path}' has gone`, { path: file.path }, error);
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
function scratch() {
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
                const hex = oidToHex(this.#window.bytes, oidAt, this.#format.oidBytes);
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
        const out = link.deltaSize > SCRATCH_BYTES ? this.#allocate(link.deltaSize + 1) : (this.#deltaScratch ??= scratch());
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
        return (this.#resultScratch[at] ??= scratch());
    }
    /** The base of the chain. */
    #base() {
        switch (this.#baseAt) {
            case BASE_IN_PLAIN:
                return (this.#plain ??= scratch());
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
        const plain = (this.#plain ??= scratch());
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
            large = new Uint8Array(bytes);
        }
        catch (error) {
            throw new engine_errors/* CheckoutError */.vd('memory', `cannot allocate ${bytes} bytes for an object`, {}, error);
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
            this.#fd = (0,external_node_fs_.openSync)(this.#path, 'r');
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
            if (errno === 'ENOENT' || errno === 'ENOTDIR')
                return false;
            throw (0,engine_errors/* ioError */.bD)('open', this.#path, error);
        }
        this.#inputStart = this.#inputEnd = 0;
        this.#atEnd = false;
        if (!this.#inflater.begin()) {
            this.#openWithoutPieces();
        }
        else {
            this.#openInPieces();
        }
        if (this.size > SCRATCH_BYTES && this.size > (0,external_node_fs_.fstatSync)(this.#fd).size * MAX_INFLATE_RATIO) {
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
            this.#compressed = (0,external_node_fs_.readFileSync)(this.#fd);
            // What comes of the first bytes of a stream that goes on: they make at most 1 MiB.
            const options = { finishFlush: external_node_zlib_namespaceObject.constants.Z_SYNC_FLUSH };
            head = (0,external_node_zlib_namespaceObject.inflateSync)(this.#compressed.subarray(0, HEAD_INPUT_BYTES), options);
        }
        catch (error) {
            if (this.#compressed === null)
                throw (0,engine_errors/* ioError */.bD)('read', this.#path, error);
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
                throw new engine_errors/* CheckoutError */.vd('memory', `cannot allocate ${this.size} bytes for '${this.#path}'`, {}, error);
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
            (0,external_node_fs_.closeSync)(this.#fd);
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
            read = (0,external_node_fs_.readSync)(this.#fd, this.#input, 0, INPUT_BYTES, null);
        }
        catch (error) {
            throw (0,engine_errors/* ioError */.bD)('read', this.#path, error);
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
        return new engine_errors/* CheckoutError */.vd('object-corrupt', `loose object '${this.#path}' ${how}`, { path: this.#path });
    }
}

;// CONCATENATED MODULE: ./build/js/engine/pack/multi-pack-index.js



const multi_pack_index_HEADER_BYTES = 12;
const CHUNK_ROW_BYTES = 12;
const multi_pack_index_SIGNATURE = 0x4d494458; // "MIDX"
const PACK_NAMES = 0x504e414d; // "PNAM"
const FANOUT = 0x4f494446; // "OIDF"
const OIDS = 0x4f49444c; // "OIDL"
const OFFSETS = 0x4f4f4646; // "OOFF"
const LARGE_OFFSETS = 0x4c4f4646; // "LOFF"
/** A row of OOFF: number of the pack, offset. */
const OFFSET_ROW_BYTES = 8;
/** The names of 300,000 packs; more is no list of packs. */
const MOST_NAME_BYTES = 16 << 20;
/** What git numbers the hash functions in this file. */
const HASH_NUMBERS = { sha1: 1, sha256: 2 };
class MultiPackIndex {
    /** Names of the packs without ending, by number. */
    packNames;
    /** Objects in this file. */
    count;
    /** Set by `find`: number of the pack, and offset in it. */
    pack = 0;
    offset = 0;
    #file;
    #oidBytes;
    #oids;
    #offsets;
    #large;
    constructor(file, { name, oidBytes }) {
        this.#oidBytes = oidBytes;
        this.#file = file;
        const { size } = file;
        if (size < multi_pack_index_HEADER_BYTES + CHUNK_ROW_BYTES + oidBytes)
            throw file.corrupt('is too small');
        const head = Buffer.alloc(multi_pack_index_HEADER_BYTES);
        file.read(head, 0);
        if (head.readUInt32BE(0) !== multi_pack_index_SIGNATURE)
            throw file.corrupt('does not begin with MIDX');
        const version = head[4] ?? 0;
        if (version !== 1 && version !== 2)
            throw file.corrupt(`has version ${version}`);
        if (head[5] !== HASH_NUMBERS[name])
            throw file.corrupt('is made for object ids of another kind');
        if (head[7] !== 0)
            throw file.corrupt('builds on files that are not named');
        const chunks = readChunks(file, head[6] ?? 0, file.size - oidBytes);
        const chunk = (id, bytes) => {
            const found = chunks.get(id);
            if (found === undefined)
                throw file.corrupt('lacks one of its tables');
            if (bytes !== undefined && found.size !== bytes)
                throw file.corrupt('has a table of a wrong size');
            return found;
        };
        const fanoutChunk = chunk(FANOUT, FANOUT_BYTES);
        const fanoutBytes = Buffer.alloc(FANOUT_BYTES);
        file.read(fanoutBytes, fanoutChunk.at);
        const fanout = parseFanout(file, fanoutBytes, 0);
        const count = fanout[255] ?? 0;
        this.count = count;
        this.#oids = new OidTable(file, fanout, chunk(OIDS, count * oidBytes).at, oidBytes, oidBytes);
        this.#offsets = chunk(OFFSETS, count * OFFSET_ROW_BYTES);
        this.#large = chunks.get(LARGE_OFFSETS) ?? { at: 0, size: 0 };
        this.packNames = readPackNames(file, chunk(PACK_NAMES), head.readUInt32BE(8));
    }
    /**
     * Opens a multi-pack index and checks its shape (not its checksum, as git).
     * @throws CheckoutError object-corrupt, io
     */
    static open(path, format, pool) {
        const file = new BlockFile(path, 'multi-pack index', pool);
        try {
            return new MultiPackIndex(file, format);
        }
        catch (error) {
            file.close();
            throw error;
        }
    }
    close() {
        this.#file.close();
    }
    /** The file's own checksum as it states it; the name of a layer in a chain. */
    checksum() {
        const checksum = Buffer.alloc(this.#oidBytes);
        this.#file.read(checksum, this.#file.size - this.#oidBytes);
        return checksum;
    }
    /**
     * Finds an object. Sets `pack` and `offset`.
     * @throws CheckoutError object-corrupt, io
     */
    find(oid, oidAt) {
        const position = this.#oids.find(oid, oidAt);
        if (position < 0)
            return false;
        const file = this.#file;
        file.locate(this.#offsets.at + position * OFFSET_ROW_BYTES, OFFSET_ROW_BYTES);
        const pack = file.buffer.readUInt32BE(file.at);
        const word = file.buffer.readUInt32BE(file.at + 4);
        if (pack >= this.packNames.length)
            throw file.corrupt('names a pack that it does not list');
        this.pack = pack;
        // Without the table of large offsets all 32 bits are an offset.
        if (word < 0x80000000 || this.#large.size === 0) {
            this.offset = word;
            return true;
        }
        const at = (word - 0x80000000) * 8;
        if (at + 8 > this.#large.size)
            throw file.corrupt('points past its table of large offsets');
        this.offset = readLargeOffset(file, this.#large.at + at);
        return true;
    }
}
/** The table of contents: rows of an id and where the chunk begins; the next row's beginning is its end, `most` the last one's. */
function readChunks(file, count, most) {
    const rows = Buffer.alloc((count + 1) * CHUNK_ROW_BYTES);
    const least = multi_pack_index_HEADER_BYTES + rows.length;
    if (least > most)
        throw file.corrupt('is too small');
    file.read(rows, multi_pack_index_HEADER_BYTES);
    const position = (row) => {
        const high = rows.readUInt32BE(row * CHUNK_ROW_BYTES + 4);
        // What does not fit 53 bits is past every file.
        return high * 0x100000000 + rows.readUInt32BE(row * CHUNK_ROW_BYTES + 8);
    };
    const chunks = new Map();
    for (let row = 0; row < count; row++) {
        const id = rows.readUInt32BE(row * CHUNK_ROW_BYTES);
        const at = position(row);
        const end = position(row + 1);
        if (id === 0 || chunks.has(id) || at < least || end < at || end > most) {
            throw file.corrupt('has an invalid table of contents');
        }
        chunks.set(id, { at, size: end - at });
    }
    if (rows.readUInt32BE(count * CHUNK_ROW_BYTES) !== 0)
        throw file.corrupt('has an invalid table of contents');
    return chunks;
}
/** The names end in NUL; what fills the chunk up to a multiple of 4 bytes is NUL as well. */
function readPackNames(file, chunk, count) {
    if (chunk.size > MOST_NAME_BYTES)
        throw file.corrupt('has too many names of packs');
    const bytes = Buffer.alloc(chunk.size);
    file.read(bytes, chunk.at);
    const names = [];
    for (let at = 0; names.length < count;) {
        const end = bytes.indexOf(0, at);
        if (end < 0)
            throw file.corrupt('lacks names of packs');
        const name = bytes.toString('utf8', at, end);
        // A plain name in the same folder; anything else leads out of it.
        if (!/^[^/\\]+\.idx$/.test(name))
            throw file.corrupt('has an invalid name of a pack');
        names.push(name.slice(0, -'.idx'.length));
        at = end + 1;
    }
    return names;
}

;// CONCATENATED MODULE: ./build/js/engine/odb/multi-pack-indexes.js
/**
 * The multi-pack index of an object directory: one file, or the layers of an incremental chain. A damaged one is as good as none,
 * since each pack has its own index.
 */





/** git's chains have a handful of layers; this is no chain any more. */
const MOST_LAYERS = 1000;
/**
 * Opens what an object directory has.
 * @param warn told of one that cannot be used
 * @returns the layers, the newest first; empty when there are none
 * @throws CheckoutError io, where the process may not open more files
 */
function openMultiPackIndexes(objectDirectory, format, pool, warn) {
    const packs = (0,external_node_path_.join)(objectDirectory, 'pack');
    try {
        const single = (0,external_node_path_.join)(packs, 'multi-pack-index');
        if (isFile(single))
            return [MultiPackIndex.open(single, format, pool)];
        return openChain((0,external_node_path_.join)(packs, 'multi-pack-index.d'), format, pool);
    }
    catch (error) {
        if (!isUnusable(error))
            throw error;
        warn(`${error.message}; it is ignored, as each pack has an index of its own`);
        return [];
    }
}
function isFile(path) {
    try {
        return (0,external_node_fs_.statSync)(path, { throwIfNoEntry: false })?.isFile() === true;
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('look at', path, error);
    }
}
function openChain(folder, format, pool) {
    const names = readChain((0,external_node_path_.join)(folder, 'multi-pack-index-chain'), 2 * format.oidBytes);
    const layers = [];
    try {
        for (const name of names) {
            const path = (0,external_node_path_.join)(folder, `multi-pack-index-${name}.midx`);
            const layer = MultiPackIndex.open(path, format, pool);
            layers.unshift(layer);
            if (layer.checksum().toString('hex') !== name) {
                throw new engine_errors/* CheckoutError */.vd('object-corrupt', `multi-pack index '${path}' has another checksum than its name`, {
                    path,
                });
            }
        }
    }
    catch (error) {
        for (const layer of layers)
            layer.close();
        throw error;
    }
    return layers;
}
/** Checksums of the layers, the oldest first. */
function readChain(path, digits) {
    let text;
    try {
        const stat = (0,external_node_fs_.statSync)(path, { throwIfNoEntry: false });
        if (stat?.isFile() !== true)
            return [];
        const invalid = new engine_errors/* CheckoutError */.vd('object-corrupt', `multi-pack index chain '${path}' is no list of layers`, {
            path,
        });
        if (stat.size > MOST_LAYERS * (digits + 1))
            throw invalid;
        text = (0,external_node_fs_.readFileSync)(path, 'latin1');
        const names = text.split('\n').filter((line) => line !== '');
        if (names.some((name) => name.length !== digits || !/^[0-9a-f]+$/.test(name)))
            throw invalid;
        return names;
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return [];
        throw (0,engine_errors/* ioError */.bD)('read', path, error);
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
                throw new engine_errors/* CheckoutError */.vd('object-missing', `object ${hex} is missing`, { oid: hex });
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
        this.#hash = (0,external_node_crypto_.createHash)(format.name).update(`${typeName(type)} ${size}\0`);
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
            throw new engine_errors/* CheckoutError */.vd('object-corrupt', message, { oid: hex });
        }
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
                throw new engine_errors/* CheckoutError */.vd('object-corrupt', `the replacements of object ${hex} lead on too long`, { oid: hex });
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

;// CONCATENATED MODULE: ./build/js/engine/odb/object-database.js
/**
 * Finds objects: by the multi-pack index, in packs, and as files of their own, in the repository's own object directory and then in
 * each alternate. The main thread owns the database; workers get places (a pack and an offset) and read by themselves.
 *
 * Packs and their indexes are opened when they are first needed. Another process may repack meanwhile, and a copy of an object
 * may be damaged: `findAgain` looks for another place, and reads the directories once more before it gives up.
 * docs/decisions/many-packs.md.
 */














/**
 * The main thread reads trees, commits, tags, attribute files and link targets whole, outside of the memory budget. What takes more than
 * this is none of them: the tree of the most entries that a checkout may have (tables.ts) would.
 */
const MOST_WHOLE_BYTES = 2 ** 30;
/**
 * Packs that stay open for all threads, which also keeps them readable when another process removes them. Others are opened by each
 * thread for itself. With two workers and what Node needs, 96 open files are enough.
 */
const SHARED_PACKS = 24;
/** Packs whose objects are counted for a guess at the size of the tables. */
const COUNTED_PACKS = 16;
class ObjectDatabase {
    /** Set by `find`: where the object is; `pack` is LOOSE for one that may be in a file of its own, `offset` then the directory. */
    pack = 0;
    offset = 0;
    directories;
    format;
    replacements;
    #warn;
    /** What was told already: directories are read more than once. */
    #warned = new Set();
    /** Whether what is read is hashed and compared. */
    verify;
    #pool = new FilePool();
    /** By path without ending. */
    #known = new Map();
    #layers = [];
    /** Packs that no multi-pack index covers, the one that had the last object first. */
    #byUse = [];
    /** The packs that objects were found in, by number. */
    #numbered = [];
    /** Places of objects that could not be read: "pack offset". */
    #bad = new Set();
    /** Objects of which no copy could be read, by hexadecimal id, and why: the first time says more than "missing" the next. */
    #unreadable = new Map();
    #loose = false;
    /** What the directories looked like when they were read. */
    #stamp = '';
    #reader = null;
    /** The object that is meant: itself, or its replacement. */
    #oid = new Uint8Array(0);
    #oidAt = 0;
    constructor(directories, format, warn, options) {
        this.directories = directories;
        this.format = format;
        this.#warn = (line) => {
            if (this.#warned.size === this.#warned.add(line).size)
                return;
            warn(line);
        };
        this.replacements = options.replacements ?? NO_REPLACEMENTS;
        this.verify = options.verify === true;
    }
    /**
     * Lists the packs of the object directories. A pack that turns out not to fit its index is told to `warn` and left out: its
     * objects may be elsewhere.
     * @throws CheckoutError io
     */
    static open(directories, format, warn, options = {}) {
        const odb = new ObjectDatabase(directories, format, warn, options);
        try {
            odb.#stamp = odb.#stampNow();
            odb.#scan();
            // At once, so that it is not found out in the middle of a checkout.
            if (odb.#known.size > MAX_PACKS)
                throw tooManyPacks();
        }
        catch (error) {
            odb.close();
            throw error;
        }
        return odb;
    }
    /** The packs that objects were found in so far, for workers; grows. */
    get packs() {
        return this.#numbered;
    }
    /** About how many objects the packs hold; a guess where there are many packs. */
    get packedObjects() {
        let sum = 0;
        for (const { index } of this.#layers)
            sum += index.count;
        for (const pack of this.#byUse.slice(0, COUNTED_PACKS))
            sum += this.#indexOf(pack)?.count ?? 0;
        return sum;
    }
    close() {
        this.#reader?.close();
        for (const { fd } of this.#numbered)
            if (fd >= 0)
                closeRead(fd);
        for (const { index } of this.#layers)
            index.close();
        for (const pack of this.#known.values())
            pack.index?.close();
        this.#pool.closeAll();
    }
    /**
     * Finds where an object is, or what replaces it. Sets `pack` and `offset`.
     * @returns false when no pack has it and no loose object can exist
     * @throws CheckoutError io, unsupported for more packs than can be numbered
     */
    find(oid, oidAt) {
        this.#mean(oid, oidAt);
        if (this.#findPacked())
            return true;
        this.pack = LOOSE;
        this.offset = 0;
        return this.#loose;
    }
    /**
     * Finds another place of an object, after it could not be read at one. Reads the directories again before it gives up. Sets
     * `pack` and `offset`.
     * @param pack where it could not be read; -1 when it was not found at all
     * @returns false when there is no other
     */
    findAgain(oid, oidAt, pack, offset) {
        this.#mean(oid, oidAt);
        if (pack >= 0 && pack !== LOOSE)
            this.#bad.add(`${pack} ${offset}`);
        if (this.#findPacked())
            return true;
        if (this.#findLoose(pack === LOOSE ? offset + 1 : 0))
            return true;
        this.#doubtLayers();
        if (this.#findPacked())
            return true;
        if (!this.rescan())
            return false;
        return this.#findPacked() || this.#findLoose(pack === LOOSE ? offset + 1 : 0);
    }
    /** Whether another object is read in place of this one. */
    isReplaced(oid, oidAt) {
        return this.replacements.count > 0 && findReplacement(this.replacements, oid, oidAt) >= 0;
    }
    /**
     * The id of an object, or of what replaces it, when it is not there: also not as a loose one, but maybe in a pack that came
     * since the directories were read. Null when it is there.
     */
    absent(oid, oidAt) {
        this.#mean(oid, oidAt);
        return this.#findPacked() || this.#findLoose(0) ? null : oidToHex(this.#oid, this.#oidAt, this.format.oidBytes);
    }
    /**
     * Reads the directories again, if they have changed: packs come and go while another process repacks or fetches.
     * @returns whether anything may be different
     */
    rescan() {
        const stamp = this.#stampNow();
        if (stamp === this.#stamp)
            return false;
        this.#stamp = stamp;
        this.#scan();
        return true;
    }
    /** The main thread's reader. */
    get reader() {
        return (this.#reader ??= new ObjectReader(this.#numbered, this.directories, this.format, true, this.#pool));
    }
    /**
     * Gives back what reading has left in memory: a large base is kept for the next delta on it, in no budget. To be called
     * before others need the memory.
     */
    releaseMemory() {
        this.#reader?.finish();
        this.#reader?.dropRetained();
    }
    /**
     * Reads a whole object, or what replaces it; the bytes are valid until the next read.
     * @returns its bytes, its type is then `reader.type`
     * @throws CheckoutError object-missing, object-corrupt, memory
     */
    read(oid, oidAt = 0) {
        if (!this.find(oid, oidAt) && !this.findAgain(oid, oidAt, -1, 0)) {
            throw this.#unreadable.get(oidToHex(oid, oidAt, this.format.oidBytes)) ?? missing(oid, oidAt, this.format);
        }
        let first = null;
        for (;;) {
            try {
                return this.#readHere(oid, oidAt);
            }
            catch (error) {
                if (!(error instanceof engine_errors/* CheckoutError */.vd) || error.code === 'memory')
                    throw error;
                first ??= error;
                const offset = this.pack === LOOSE ? this.reader.looseDirectory : this.offset;
                if (this.findAgain(oid, oidAt, this.pack, offset))
                    continue;
                const hex = oidToHex(oid, oidAt, this.format.oidBytes);
                const why = this.#unreadable.get(hex) ?? first;
                this.#unreadable.set(hex, why);
                throw why;
            }
        }
    }
    /** Reads the object at `pack` and `offset`. */
    #readHere(oid, oidAt) {
        const { reader } = this;
        // What was read before is not valid any more; a large one would stay in memory until somebody finishes it.
        reader.finish();
        if (this.pack === LOOSE) {
            if (!reader.openLoose(this.#oid, this.#oidAt, this.offset))
                throw missing(oid, oidAt, this.format);
        }
        else {
            reader.open(this.pack, this.offset, this.#oid, this.#oidAt);
        }
        let bytes = reader.readSmall();
        if (bytes === null) {
            reader.measure();
            if (reader.readBytes > MOST_WHOLE_BYTES) {
                const hex = oidToHex(oid, oidAt, this.format.oidBytes);
                throw new engine_errors/* CheckoutError */.vd('memory', `object ${hex} takes ${reader.readBytes} bytes, more than are read whole`, {
                    oid: hex,
                });
            }
            bytes = reader.read();
        }
        if (this.verify)
            new ObjectChecksum(this.format, reader.type, bytes.length).update(bytes).check(this.#oid, this.#oidAt);
        return bytes;
    }
    /** Makes an object, or what replaces it, the one that is looked for. */
    #mean(oid, oidAt) {
        const at = this.replacements.count === 0 ? -1 : findReplacement(this.replacements, oid, oidAt);
        this.#oid = at < 0 ? oid : this.replacements.to;
        this.#oidAt = at < 0 ? oidAt : at;
    }
    #findPacked() {
        return this.#findInLayers() || this.#findInPacks();
    }
    #findInLayers() {
        for (const { index, packs } of this.#layers) {
            try {
                if (!index.find(this.#oid, this.#oidAt))
                    continue;
            }
            catch (error) {
                if (!isUnusable(error))
                    throw error;
                this.#warn(`${error.message}; it is ignored, as each pack has an index of its own`);
                this.#doubtLayers();
                return false;
            }
            const pack = packs[index.pack] ?? null;
            if (pack !== null && this.#take(pack, index.offset))
                return true;
        }
        return false;
    }
    #findInPacks() {
        const byUse = this.#byUse;
        for (let i = 0; i < byUse.length; i++) {
            const pack = byUse[i];
            if (pack === undefined)
                break;
            const index = this.#indexOf(pack);
            if (index === null)
                continue;
            let offset;
            try {
                offset = index.find(this.#oid, this.#oidAt);
            }
            catch (error) {
                this.#leaveOut(pack, error);
                continue;
            }
            if (offset < 0 || !this.#take(pack, offset))
                continue;
            if (i > 0) {
                // Objects that are used together lie together: try this pack first next time.
                byUse.splice(i, 1);
                byUse.unshift(pack);
            }
            return true;
        }
        return false;
    }
    /** Sets the place, unless the pack cannot be opened or the object could not be read there before. */
    #take(pack, offset) {
        if (pack.number < 0 && !this.#number(pack))
            return false;
        if (this.#bad.size > 0 && this.#bad.has(`${pack.number} ${offset}`))
            return false;
        this.pack = pack.number;
        this.offset = offset;
        return true;
    }
    #findLoose(first) {
        if (!this.#loose)
            return false;
        const hex = oidToHex(this.#oid, this.#oidAt, this.format.oidBytes);
        const { directories } = this;
        for (let i = first; i < directories.length; i++) {
            if (!(0,external_node_fs_.existsSync)(loosePath(directories[i] ?? '', hex)))
                continue;
            this.pack = LOOSE;
            this.offset = i;
            return true;
        }
        return false;
    }
    #indexOf(pack) {
        if (pack.index !== null || pack.unusable)
            return pack.index;
        try {
            return (pack.index = PackIndex.open(`${pack.base}.idx`, this.format, this.#pool));
        }
        catch (error) {
            this.#leaveOut(pack, error);
            return null;
        }
    }
    /** Opens a pack that an object was found in, and gives it a number; false when it cannot be used. */
    #number(pack) {
        const index = this.#indexOf(pack);
        if (index === null)
            return false;
        if (this.#numbered.length >= MAX_PACKS) {
            throw tooManyPacks();
        }
        try {
            let file = this.#openPack(pack.base, index);
            if (this.#numbered.length >= SHARED_PACKS) {
                closeRead(file.fd);
                file = { ...file, fd: -1 };
            }
            pack.number = this.#numbered.push(file) - 1;
            return true;
        }
        catch (error) {
            this.#leaveOut(pack, error);
            return false;
        }
    }
    #openPack(base, index) {
        try {
            return openPack(`${base}.pack`, `${base}.idx`, index);
        }
        catch (error) {
            if (isUnusable(error))
                throw error;
            // No more files may be open. Those of the pool can be opened again.
            this.#pool.closeAll();
            return openPack(`${base}.pack`, `${base}.idx`, index);
        }
    }
    /** A pack that cannot be used is told, unless it has merely gone: a concurrent repack is no damage. */
    #leaveOut(pack, error) {
        if (!isUnusable(error))
            throw error;
        pack.unusable = true;
        pack.index?.close();
        pack.index = null;
        this.#byUse = this.#byUse.filter((other) => other !== pack);
        if (error.subject.errno !== 'ENOENT')
            this.#warn(error.message);
    }
    /** Looks into each pack's own index from now on: the multi-pack index is damaged, or does not lead to an object. */
    #doubtLayers() {
        if (this.#layers.length === 0)
            return;
        for (const { index } of this.#layers)
            index.close();
        this.#layers = [];
        this.#byUse = this.#usable();
    }
    #usable() {
        return [...this.#known.values()].filter((pack) => !pack.unusable);
    }
    /** Reads the directories: what is there, and what the multi-pack indexes cover. */
    #scan() {
        for (const { index } of this.#layers)
            index.close();
        this.#layers = [];
        this.#loose = this.directories.some((directory) => hasLooseObjects(directory));
        const there = new Set();
        const covered = new Set();
        for (const directory of this.directories) {
            for (const base of packBases(directory)) {
                there.add(base);
                const known = this.#known.get(base);
                // One of the name of a pack that has gone is another pack.
                if (known === undefined || known.unusable) {
                    this.#known.set(base, { base, index: null, number: -1, unusable: false });
                }
            }
            for (const index of openMultiPackIndexes(directory, this.format, this.#pool, this.#warn)) {
                const packs = index.packNames.map((name) => this.#known.get((0,external_node_path_.join)(directory, 'pack', name)) ?? null);
                this.#layers.push({ index, packs });
                for (const pack of packs)
                    if (pack !== null)
                        covered.add(pack);
            }
        }
        for (const pack of this.#known.values()) {
            // One that is open for all threads can be read to the end.
            if (there.has(pack.base) || (this.#numbered[pack.number]?.fd ?? -1) >= 0)
                continue;
            pack.unusable = true;
            pack.index?.close();
            pack.index = null;
        }
        this.#byUse = this.#usable().filter((pack) => !covered.has(pack));
    }
    /** Times and sizes of the directories that change when packs or first loose objects come or go. */
    #stampNow() {
        let stamp = '';
        for (const directory of this.directories) {
            for (const path of [directory, (0,external_node_path_.join)(directory, 'pack'), (0,external_node_path_.join)(directory, 'pack', 'multi-pack-index.d')]) {
                let stat;
                try {
                    stat = (0,external_node_fs_.statSync)(path, { bigint: true, throwIfNoEntry: false });
                }
                catch (error) {
                    throw (0,engine_errors/* ioError */.bD)('look at', path, error);
                }
                if (stat === undefined)
                    continue;
                // A directory that was changed a moment ago may be changed again within the same tick of the file system's clock.
                const young = Date.now() - Number(stat.mtimeMs) < YOUNG_MS;
                stamp += `${path} ${stat.mtimeNs}${young ? ` ${performance.now()}` : ''}\n`;
            }
        }
        return stamp;
    }
}
/** File systems tick every few milliseconds; two seconds is the worst known (FAT). */
const YOUNG_MS = 2000;
function tooManyPacks() {
    return new engine_errors/* CheckoutError */.vd('unsupported', `the repository has more than ${MAX_PACKS} packs`);
}
function missing(oid, oidAt, format) {
    const hex = oidToHex(oid, oidAt, format.oidBytes);
    return new engine_errors/* CheckoutError */.vd('object-missing', `object ${hex} is missing`, { oid: hex });
}
/** Paths without ending of the packs that have both files, in a stable order. */
function packBases(objectDirectory) {
    const directory = (0,external_node_path_.join)(objectDirectory, 'pack');
    let names;
    try {
        names = (0,external_node_fs_.readdirSync)(directory);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return [];
        throw (0,engine_errors/* ioError */.bD)('read', directory, error);
    }
    const packs = new Set(names.filter((name) => name.endsWith('.pack')));
    return names
        .filter((name) => name.endsWith('.idx') && packs.has(`${name.slice(0, -4)}.pack`))
        .map((name) => (0,external_node_path_.join)(directory, name.slice(0, -4)))
        .sort();
}
function hasLooseObjects(objectDirectory) {
    try {
        return (0,external_node_fs_.readdirSync)(objectDirectory).some((name) => /^[0-9a-f]{2}$/.test(name));
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('read', objectDirectory, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/refs/replace-refs.js
/**
 * Replace refs (git-replace): refs/replace/<id> holds the id of the object that is read in place of <id>.
 */







/**
 * All replacements that are in force, by the id of the object that is replaced; empty where they are switched off.
 * @param warn told of refs that name no object
 * @throws CheckoutError unsupported for two of one object (git gives up as well, in its own words), unknown-revision where
 * packed-refs is damaged, io
 */
function readReplaceRefs(dirs, format, config, environment, warn) {
    const pairs = new Map();
    if (environment['GIT_NO_REPLACE_OBJECTS'] !== undefined || config.getBool('core.useReplaceRefs') === false) {
        return pairs;
    }
    const prefix = environment['GIT_REPLACE_REF_BASE'] ?? 'refs/replace/';
    if (!ref_names_isValidRefName(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix))
        return pairs;
    const packed = packedRefsOnce(dirs);
    const names = new Set(looseNames(dirs, prefix));
    const inPack = packedNames(packed(), prefix);
    for (const name of inPack)
        names.add(name);
    const bytes = packed();
    if (inPack.length > 0 && bytes !== null)
        checkLines(bytes);
    for (const name of names) {
        const replaced = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
        const isId = isHexOid(replaced, format);
        const found = isId ? oidOf(dirs, name, packed) : null;
        const isBroken = found === null || !isHexOid(found, format);
        if (isBroken)
            warn(`the replace ref '${displayBytes(Buffer.from(name))}' is broken, or does not name an object`);
        if (!isId)
            continue;
        // As with git, the object cannot be read then: what stands in its place is not known.
        const replacement = isBroken ? '0'.repeat(replaced.length) : found;
        if (pairs.has(replaced)) {
            throw new engine_errors/* CheckoutError */.vd('unsupported', 'an object has two replace refs', { oid: replaced });
        }
        else {
            pairs.set(replaced, replacement);
        }
    }
    return pairs;
}
function oidOf(dirs, name, packed) {
    try {
        return read_refs_resolveRef(dirs, name, packed)?.oid ?? null;
    }
    catch (error) {
        if (error instanceof engine_errors/* CheckoutError */.vd && error.code === 'unknown-revision')
            return null;
        throw error;
    }
}
/** Names of loose refs that begin with the prefix. */
function looseNames(dirs, prefix) {
    const names = [];
    const walk = (folder) => {
        let entries;
        try {
            entries = (0,external_node_fs_.readdirSync)((0,external_node_path_.join)(dirs.commonDir, folder), { withFileTypes: true });
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
            if (errno === 'ENOENT' || errno === 'ENOTDIR')
                return;
            throw (0,engine_errors/* ioError */.bD)('read', (0,external_node_path_.join)(dirs.commonDir, folder), error);
        }
        for (const entry of entries) {
            const name = `${folder}/${entry.name}`;
            if (!ref_names_isValidRefName(name))
                continue;
            if (entry.isDirectory())
                walk(name);
            else if (name.startsWith(prefix))
                names.push(name);
        }
    };
    walk(prefix.slice(0, prefix.lastIndexOf('/')));
    return names;
}
/** Names in packed-refs that begin with the prefix. */
function packedNames(packed, prefix) {
    const names = [];
    if (packed === null)
        return names;
    const needle = Buffer.from(` ${prefix}`);
    for (let at = packed.indexOf(needle); at >= 0; at = packed.indexOf(needle, at + 1)) {
        const end = packed.indexOf(10, at);
        const name = packed.toString('utf8', at + 1, end < 0 ? packed.length : end);
        if (ref_names_isValidRefName(name))
            names.push(name);
    }
    return names;
}
/** Lines of packed-refs: a ref, or what the tag of the line before leads to. */
const PACKED_LINE = /(?:[0-9a-f]{40,64} [^\n]+|\^[0-9a-f]{40,64})\n/iy;
const PACKED_HEADER = '# pack-refs with:';
/**
 * Of a damaged line nobody knows whether it was a replacement, so that files could be written that were replaced.
 * @throws CheckoutError unknown-revision
 */
function checkLines(packed) {
    const text = packed.toString('latin1');
    PACKED_LINE.lastIndex = text.startsWith(PACKED_HEADER) ? text.indexOf('\n') + 1 : 0;
    while (PACKED_LINE.lastIndex < text.length) {
        const at = PACKED_LINE.lastIndex;
        if (PACKED_LINE.test(text))
            continue;
        const line = displayBytes(packed.subarray(at, Math.min(packed.indexOf(10, at), at + 80)));
        throw new engine_errors/* CheckoutError */.vd('unknown-revision', `packed-refs has a line that is none: '${line}'`, {
            path: 'packed-refs',
        });
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/open-objects.js




/**
 * @param verify hash what is read and compare
 * @throws CheckoutError io, unsupported
 */
function open_objects_openObjects(repository, config, environment, warn, verify = false) {
    const borrowed = environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '';
    const { objectFormat: format } = repository;
    const directories = objectDirectories(repository.objectsDir, borrowed, repository.workTree, warn);
    const replaced = readReplaceRefs(repository, format, config, environment, warn);
    return ObjectDatabase.open(directories, format, warn, {
        verify,
        replacements: makeReplacements(replaced, format.oidBytes),
    });
}

;// CONCATENATED MODULE: ./build/js/engine/object/commit.js


/** The tree of a commit object, or null when its first line is not "tree <id>". */
function commitTree(bytes, format) {
    return idOfFirstLine(bytes, 'tree ', format);
}
/** The object that a tag object names, or null when it is not well-formed. */
function tagTarget(bytes, format) {
    return idOfFirstLine(bytes, 'object ', format);
}
/** The id in a first line of exactly KEY, an id in small digits, and a line feed. */
function idOfFirstLine(bytes, key, format) {
    const end = key.length + 2 * format.oidBytes;
    if (bytes.length <= end || bytes[end] !== 0x0a)
        return null;
    const line = bufferOver(bytes, 0, end).toString('latin1');
    const hex = line.slice(key.length);
    return line.startsWith(key) && /^[0-9a-f]+$/.test(hex) ? oidFromHex(hex) : null;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/peel.js
/**
 * From the object that a revision names to the tree that is checked out: tags are followed to a commit.
 */




/** Tags of tags are rare and short; a loop of them cannot be made without breaking the hash. */
const MOST_TAGS = 64;
/**
 * Follows tags from an object to a commit, and gives that commit's id and its tree's.
 * @throws CheckoutError unknown-revision when it leads to no commit, object-missing, object-corrupt
 */
function peel_peelToTree(odb, hex) {
    const { format } = odb;
    if (!isHexOid(hex, format)) {
        throw new engine_errors/* CheckoutError */.vd('unknown-revision', `'${hex}' is no object id of ${format.name}`, { oid: hex });
    }
    let oid = oidFromHex(hex);
    for (let depth = 0; depth < MOST_TAGS; depth++) {
        const bytes = odb.read(oid);
        const { type } = odb.reader;
        if (type === COMMIT) {
            const tree = commitTree(bytes, format);
            if (tree === null)
                break;
            return { commit: oidToHex(oid, 0, oid.length), tree: new Uint8Array(tree) };
        }
        const next = type === TAG ? tagTarget(bytes, format) : null;
        if (next === null) {
            throw new engine_errors/* CheckoutError */.vd('unknown-revision', `object ${hex} is a ${typeName(type)}, not a commit`, { oid: hex });
        }
        oid = next;
    }
    throw new engine_errors/* CheckoutError */.vd('object-corrupt', `object ${hex} does not lead to a tree`, { oid: hex });
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
const wildmatch_COLON = 0x3a;
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
        else if (byte === OPEN && next === wildmatch_COLON) {
            const close = pattern.indexOf(CLOSE, at + 2);
            if (close < 0)
                return -1;
            if (close === at + 2 || pattern[close - 1] !== wildmatch_COLON) {
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

;// CONCATENATED MODULE: ./build/js/engine/sparse/cone.js
/**
 * Sparse checkout by directories (cone mode). The file then holds only patterns of a few forms, which name directories:
 * those that are there with all below them, and their parents, of which only the files are there. A single pattern of
 * another form ends cone mode for the whole file.
 *
 * Which forms are taken, and what odd ones mean, follows git step by step, quirks included: a file is in if its own name
 * is that of a directory with all below it, and a directory is looked into only if it is at the top, in a parent, or
 * named itself.
 */



const cone_SLASH = 0x2f;
const cone_BACKSLASH = 0x5c;
const cone_ASTERISK = 0x2a;
/** Reads the patterns as a cone; without a matcher where they are none. */
function coneOf(patterns, ignoreCase) {
    const cone = new ConeReader(ignoreCase);
    for (const pattern of patterns) {
        const objection = cone.add(pattern);
        if (objection !== null)
            return { matcher: null, warnings: [objection, 'disabling cone pattern matching'] };
    }
    return { matcher: cone.matcher(), warnings: [] };
}
class ConeReader {
    /** Paths with a slash in front, as byte strings; how often each was named and not yet taken back. */
    #recursive = new Map();
    #parents = new Set();
    /** The last of `/*` and its opposite counts. */
    #everything = false;
    #ignoreCase;
    constructor(ignoreCase) {
        this.#ignoreCase = ignoreCase;
    }
    /** Takes the next pattern of the file; returns why it fits no cone, or null. */
    add({ pattern, negative, mustBeDirectory }) {
        const rootFiles = pattern.length === 2 && pattern[0] === cone_SLASH && pattern[1] === cone_ASTERISK;
        if (rootFiles && negative && mustBeDirectory) {
            this.#everything = false;
            return null;
        }
        if (rootFiles && !negative && !mustBeDirectory) {
            this.#everything = true;
            return null;
        }
        const shown = displayBytes(pattern);
        if ((!mustBeDirectory && !rootFiles) || !isConePath(pattern))
            return `unrecognized pattern: '${shown}'`;
        const path = this.#pathOf(pattern);
        const last = pattern.length - 1;
        if (pattern.length > 2 && pattern[last] === cone_ASTERISK && pattern[last - 1] === cone_SLASH) {
            if (!negative)
                return `unrecognized pattern: '${shown}'`;
            const named = this.#recursive.get(path) ?? 0;
            if (named === 0)
                return `unrecognized negative pattern: '${shown}'`;
            this.#parents.add(path);
            this.#recursive.set(path, named - 1);
            return null;
        }
        if (negative)
            return `unrecognized negative pattern: '${shown}'`;
        this.#recursive.set(path, (this.#recursive.get(path) ?? 0) + 1);
        if (this.#parents.has(path)) {
            return `your sparse-checkout file may have issues: pattern '${shown}' is repeated`;
        }
        return null;
    }
    matcher() {
        if (this.#everything)
            return coneMatcher({ recursive: true, parent: true, children: new Map() }, this.#ignoreCase);
        const root = { recursive: false, parent: true, children: new Map() };
        for (const [path, named] of this.#recursive)
            if (named > 0)
                nodeOf(root, path).recursive = true;
        for (const path of this.#parents)
            nodeOf(root, path).parent = true;
        return coneMatcher(root, this.#ignoreCase);
    }
    /** The path that a pattern stands for: escapes taken off, then a slash and asterisk at the end. */
    #pathOf(pattern) {
        const path = [];
        for (let at = 0; at < pattern.length; at++) {
            if (pattern[at] === cone_BACKSLASH)
                at++;
            const byte = pattern[at];
            if (byte !== undefined)
                path.push(this.#ignoreCase ? foldByte(byte) : byte);
        }
        if (path.length > 2 && path.at(-1) === cone_ASTERISK && path.at(-2) === cone_SLASH)
            path.length -= 2;
        return Buffer.from(path).toString('latin1');
    }
}
/** Whether the pattern is a path from the top without wildcards but for an asterisk after its last slash. */
function isConePath(pattern) {
    if (pattern.length < 2 || pattern[0] !== cone_SLASH)
        return false;
    for (let at = 1; at < pattern.length; at++) {
        const byte = pattern[at] ?? 0;
        const previous = pattern[at - 1];
        const next = pattern[at + 1];
        if (byte === cone_ASTERISK && next === cone_ASTERISK)
            return false;
        if (!isGlobSpecial(byte) || previous === cone_BACKSLASH)
            continue;
        if (byte === cone_BACKSLASH && next !== undefined && isGlobSpecial(next))
            continue;
        if (byte === cone_ASTERISK && previous === cone_SLASH && next === undefined)
            continue;
        return false;
    }
    return true;
}
/** Asterisk, question mark, opening bracket, backslash. */
function isGlobSpecial(byte) {
    return byte === cone_ASTERISK || byte === 0x3f || byte === 0x5b || byte === cone_BACKSLASH;
}
function nodeOf(root, path) {
    let node = root;
    for (const name of path.slice(1).split('/')) {
        let child = node.children.get(name);
        if (child === undefined)
            node.children.set(name, (child = { recursive: false, parent: false, children: new Map() }));
        node = child;
    }
    return node;
}
function coneMatcher(root, ignoreCase) {
    /** Nodes by verdict, for directories that are not decided as a whole. */
    const nodes = [root];
    const numbers = new Map([[root, 0]]);
    const childNamed = (node, path, name, end) => {
        // Most directories have no named ones in them, and their entries need no name.
        if (node.children.size === 0)
            return undefined;
        let key = '';
        for (let at = name; at < end; at++) {
            const byte = path[at] ?? 0;
            key += String.fromCharCode(ignoreCase ? foldByte(byte) : byte);
        }
        return node.children.get(key);
    };
    return {
        root: root.recursive ? ALL : 0,
        directory(path, name, end, parent) {
            const node = nodes[parent];
            if (node === undefined)
                return NONE;
            const child = childNamed(node, path, name, end);
            if (child?.recursive === true)
                return ALL;
            if (child === undefined || !node.parent)
                return NONE;
            let number = numbers.get(child);
            if (number === undefined) {
                number = nodes.push(child) - 1;
                numbers.set(child, number);
            }
            return number;
        },
        includes(path, _start, name, end, _isDirectory, parent) {
            const node = nodes[parent];
            if (node === undefined)
                return false;
            return node.parent || childNamed(node, path, name, end)?.recursive === true;
        },
    };
}

;// CONCATENATED MODULE: ./build/js/engine/sparse/pattern-file.js
/** A larger file is taken for one that cannot be read (git's PATTERN_MAX_FILE_SIZE). */
const PATTERN_FILE_LIMIT = 100 * 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const pattern_file_SPACE = 0x20;
const EXCLAMATION = 0x21;
const HASH = 0x23;
const pattern_file_SLASH = 0x2f;
const pattern_file_BACKSLASH = 0x5c;
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
    const mustBeDirectory = end > from && file[end - 1] === pattern_file_SLASH;
    return { pattern: file.slice(from, mustBeDirectory ? end - 1 : end), negative, mustBeDirectory };
}
/** Where the line ends without its trailing spaces; one after a backslash stays. */
function withoutTrailingSpaces(file, start, end) {
    let firstSpace = -1;
    for (let at = start; at < end; at++) {
        if (file[at] === pattern_file_SPACE) {
            if (firstSpace < 0)
                firstSpace = at;
            continue;
        }
        if (file[at] === pattern_file_BACKSLASH && ++at >= end)
            return end;
        firstSpace = -1;
    }
    return firstSpace < 0 ? end : firstSpace;
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
const pattern_EMPTY = new Uint8Array(0);
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
    return { kind: hasSlash ? PATH_GLOB : NAME_GLOB, literal: pattern_EMPTY, glob, fold, lastByte: last < 256 ? last : -1 };
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

const pattern_list_OUT = 0;
const pattern_list_IN = 1;
/** The matcher for these patterns, which are in the order of the file. */
function listMatcher(patterns, ignoreCase) {
    const rules = [];
    for (const { pattern, negative, mustBeDirectory } of patterns) {
        const compiled = compilePattern(pattern, ignoreCase);
        if (compiled !== null)
            rules.push({ pattern: compiled, mustBeDirectory, verdict: negative ? pattern_list_OUT : pattern_list_IN });
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
        root: pattern_list_OUT,
        directory: (path, name, end, parent) => decide(path, 0, name, end, true, parent),
        includes: (path, start, name, end, isDirectory, parent) => decide(path, start, name, end, isDirectory, parent) === pattern_list_IN,
    };
}

;// CONCATENATED MODULE: ./build/js/engine/sparse/compile.js



/** The matcher for the content of an info/sparse-checkout file. */
function compileSparse(file, { cone, ignoreCase }) {
    const patterns = parseSparsePatterns(file);
    if (!cone)
        return { matcher: listMatcher(patterns, ignoreCase), warnings: [] };
    const result = coneOf(patterns, ignoreCase);
    return result.matcher === null
        ? { matcher: listMatcher(patterns, ignoreCase), warnings: result.warnings }
        : { matcher: result.matcher, warnings: [] };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/sparse-rules.js
/**
 * Whether the working tree is sparse, and by which rules: the configuration says whether, the file info/sparse-checkout
 * how. Without a file that can be read everything is checked out, as with git.
 */





/**
 * The rules for the next checkout; null where core.sparseCheckout is off.
 * @param end a sparse checkout is to end: all that was left out is to be written
 */
function sparse_rules_readSparseRules(repository, config, end, warn) {
    const expectOutside = config.getBool('sparse.expectFilesOutsideOfPatterns') ?? false;
    if (end)
        return { matcher: EVERYTHING, expectOutside };
    if (config.getBool('core.sparseCheckout') !== true)
        return null;
    const file = readPatternFile(repository.sparsePath, warn);
    if (file === null)
        return { matcher: null, expectOutside };
    const { matcher, warnings } = compileSparse(file, {
        cone: config.getBool('core.sparseCheckoutCone') ?? false,
        ignoreCase: config.getBool('core.ignoreCase') ?? false,
    });
    for (const line of warnings)
        warn(line);
    return { matcher, expectOutside };
}
/** The whole file; null where git would do without it. */
function readPatternFile(path, warn) {
    let fd = null;
    try {
        fd = (0,external_node_fs_.openSync)(path, 'r');
        const { size } = (0,external_node_fs_.fstatSync)(fd);
        if (size > PATTERN_FILE_LIMIT) {
            warn(`ignoring the sparse-checkout patterns in '${path}': the file is larger than ${PATTERN_FILE_LIMIT} bytes`);
            return null;
        }
        const content = new Uint8Array(size);
        let length = 0;
        while (length < size) {
            const read = (0,external_node_fs_.readSync)(fd, content, length, size - length, length);
            if (read === 0)
                break;
            length += read;
        }
        return content.subarray(0, length);
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
        if (errno === undefined)
            throw error;
        if (errno !== 'ENOENT' && errno !== 'ENOTDIR') {
            warn(`the sparse-checkout patterns in '${path}' cannot be read (${errno}): everything is checked out`);
        }
        return null;
    }
    finally {
        if (fd !== null)
            (0,external_node_fs_.closeSync)(fd);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/count-files.js









/** Counting needs no attributes. */
const NO_CONVERSIONS = {
    enterDirectory: () => undefined,
    leaveDirectory: () => undefined,
    lookUp: () => 0,
};
/**
 * The number of regular files in the index or, without one, in HEAD's commit, without those that a sparse checkout leaves
 * out.
 * @throws CheckoutError index-corrupt, object-missing and others of what is damaged
 */
function count_files_countFiles(repository, config, environment, warn) {
    const index = readWholeIndex(repository, null);
    if (index !== null)
        return countRegular(index, (i) => isSkipped(index, i));
    const head = resolveRef(repository, 'HEAD')?.oid ?? null;
    if (head === null)
        return 0;
    const odb = openObjects(repository, config, environment, warn);
    try {
        const matcher = readSparseRules(repository, config, false, warn)?.matcher ?? null;
        const { tables } = buildManifest(odb, peelToTree(odb, head).tree, {
            rules: { ntfs: false, hfs: false, windows: false },
            conversions: NO_CONVERSIONS,
            maxPathBytes: Infinity,
            ...(matcher === null ? {} : { sparse: matcher }),
        });
        return countRegular(tables, (i) => tables.states[i] === State.SKIPPED);
    }
    finally {
        odb.close();
    }
}
function isSkipped(index, entry) {
    return ((index.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.skipWorktree) !== 0;
}
function countRegular({ modes, count }, isLeftOut) {
    let files = 0;
    for (let i = 0; i < count; i++) {
        // Nothing of a sparse index's directory is in the working tree.
        const mode = modes[i];
        if (mode !== MODE_SYMLINK && mode !== MODE_GITLINK && mode !== MODE_TREE && !isLeftOut(i))
            files++;
    }
    return files;
}

;// CONCATENATED MODULE: ./build/js/engine/config/config-values.js
const UNITS = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** A whole number in decimal, 0x hexadecimal or 0 octal with an optional k, m or g; null when it is not one or too big. */
function parseConfigInt(text) {
    const match = /^\s*([+-]?)(0x[0-9a-f]+|\d+)([kmg]?)$/i.exec(text);
    if (match === null)
        return null;
    const digits = match[2];
    let magnitude;
    if (/^0x/i.test(digits))
        magnitude = Number.parseInt(digits.slice(2), 16);
    else if (!/^0\d/.test(digits))
        magnitude = Number.parseInt(digits, 10);
    // As in C, the octal number ends at an 8 or 9, and something that is no unit follows it.
    else if (/[89]/.test(digits))
        return null;
    else
        magnitude = Number.parseInt(digits, 8);
    const value = magnitude * UNITS[match[3].toLowerCase()] * (match[1] === '-' ? -1 : 1);
    return Number.isSafeInteger(value) ? value + 0 : null;
}
/** A boolean, in git's spellings, or any whole number (0 is false); null when it is neither. */
function parseConfigBool(value) {
    if (value === null)
        return true;
    if (/^(true|yes|on)$/i.test(value))
        return true;
    if (/^(|false|no|off)$/i.test(value))
        return false;
    const number = parseConfigInt(value);
    return number === null ? null : number !== 0;
}
/** `~` and `~/…` with the home directory put in; null where that needs what we do not have (`~user`, no HOME). */
function expandConfigPath(text, environment) {
    if (text.startsWith('%(prefix)/'))
        return null;
    if (!text.startsWith('~'))
        return text;
    if (text !== '~' && !text.startsWith('~/'))
        return null;
    const home = environment['HOME'] ?? environment['USERPROFILE'];
    if (home === undefined || home === '')
        return null;
    return `${home}${text.slice(1)}`;
}

;// CONCATENATED MODULE: ./build/js/engine/config/git-options.js
/**
 * The options that go before a git command's name: which repository, and configuration on top of its files. They are
 * the same for every question that we ask of git, or two answers could be about two repositories.
 */

/**
 * `-c KEY=VALUE` for each override.
 *
 * @throws CheckoutError 'usage' for a key that is not SECTION.NAME, or has a '=', at which git would cut
 */
function git_options_configArgs(overrides) {
    return overrides.flatMap(({ key, value }) => {
        if (!/^[A-Za-z0-9-]+\.(?:[^=\0\n]*\.)?[A-Za-z][A-Za-z0-9-]*$/.test(key)) {
            throw new engine_errors/* CheckoutError */.vd('usage', `'${key}' is not a configuration key`, { option: '-c' });
        }
        if (value.includes('\0')) {
            throw new engine_errors/* CheckoutError */.vd('usage', `the value of '${key}' has a NUL byte`, { option: '-c' });
        }
        return ['-c', `${key}=${value}`];
    });
}
/** All options of a location. */
function locationArgs(location) {
    const args = [];
    if (location.gitDir !== undefined)
        args.push(`--git-dir=${location.gitDir}`);
    if (location.workTree !== undefined)
        args.push(`--work-tree=${location.workTree}`);
    args.push(...git_options_configArgs(location.config ?? []));
    return args;
}

;// CONCATENATED MODULE: ./build/js/engine/gitdir/hooks.js
/**
 * The two hooks of a checkout: post-index-change after the new index is in place, post-checkout at the very end. git itself
 * runs them (`git hook run`), started where and as the user's own git would have been, so that the hook finds the environment,
 * directory and streams that it finds under `git checkout`. Where there is no hook, no process is started.
 */




/**
 * Whether git would have something to run for this hook. Where only git can tell (`~user` in core.hooksPath), it says yes; git
 * then finds nothing and is content.
 */
function hookExists(name, { repository, config, environment }) {
    // Hooks that are configuration: git 2.54 and later; older ones have no such key.
    if (config.subsections('hook').some((hook) => config.getAll(`hook.${hook}.event`).includes(name)))
        return true;
    const configured = config.get('core.hooksPath');
    let folder = (0,external_node_path_.join)(repository.commonDir, 'hooks');
    if (configured !== undefined) {
        const expanded = expandConfigPath(configured, environment);
        if (expanded === null)
            return true;
        folder = (0,external_node_path_.isAbsolute)(expanded) ? expanded : (0,external_node_path_.resolve)(repository.workTree, expanded);
    }
    try {
        const path = (0,external_node_path_.join)(folder, name);
        if (!(0,external_node_fs_.statSync)(path).isFile())
            return false;
        // On Windows every file is executable, as git has it there.
        (0,external_node_fs_.accessSync)(path, external_node_fs_.constants.X_OK);
        return true;
    }
    catch {
        return false;
    }
}
/** Whether the answer of `git version` is of a git that has `git hook run`: 2.36 and later. */
function hasHookCommand(versionAnswer) {
    const [, major, minor] = /(\d+)\.(\d+)/.exec(versionAnswer) ?? [];
    return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 36);
}
/**
 * Runs a hook if there is one.
 * @returns its exit status; 0 where there is none
 * @throws CheckoutError git-missing, interrupted
 */
async function runHook(name, args, call) {
    if (!hookExists(name, call))
        return 0;
    const { location, repository, environment, git, signal } = call;
    const named = [location.gitDir, location.workTree, environment['GIT_DIR'], environment['GIT_WORK_TREE']];
    const discovered = named.every((each) => each === undefined);
    // git looks for the repository where the user's git would; but the checkout may have removed that directory.
    const cwd = discovered && (0,external_node_fs_.existsSync)(location.directory) ? location.directory : repository.workTree;
    const where = discovered ? [] : [`--git-dir=${repository.gitDir}`, '--work-tree=.'];
    const result = await git({
        args: [...where, ...git_options_configArgs(location.config ?? []), 'hook', 'run', '--ignore-missing', name, '--', ...args],
        cwd,
        onStderrLine: call.onLine,
        ...(signal === undefined ? {} : { signal }),
    });
    return result.exitCode;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/needs-git.js

/** Reasons that configuration and the git directory give, a phrase each. */
function repositoryNeedsGit(repository, config, environment) {
    const reasons = [];
    const when = (condition, reason) => {
        if (condition === true)
            reasons.push(reason);
    };
    when(repository.refFormat !== 'files', `refs are kept in a ${repository.refFormat}`);
    when(config.getBool('submodule.recurse'), 'submodule.recurse is set');
    const attributeTree = config.get('attr.tree') ?? environment['GIT_ATTR_SOURCE'];
    when(attributeTree !== undefined && attributeTree !== '', 'attributes are taken from another tree');
    return reasons;
}
/** The reason that a hook gives, where it cannot be run as git runs it. git is asked only if there is a hook. */
async function hooksNeedGit(facts, git, signal) {
    const reasons = [];
    if (hookExists('post-checkout', facts) || hookExists('post-index-change', facts)) {
        const { stdout } = await git({ args: ['version'], ...(signal === undefined ? {} : { signal }) });
        if (!hasHookCommand(stdout.toString()))
            reasons.push("a hook is to be run, and git before 2.36 has no 'git hook'");
    }
    return reasons;
}
/** Reasons that the current index gives. */
function indexNeedsGit(index) {
    const reasons = [];
    for (const { signature } of index.extensions) {
        if (/^[a-z]/.test(signature))
            reasons.push(`the index has the extension '${signature}'`);
    }
    return reasons;
}

;// CONCATENATED MODULE: ./build/js/engine/config/append-section.js
/**
 * Adds a section to the end of a repository's configuration file, as `git config` does for a section that is not there
 * yet: one process less for a new remote or a new branch. Changing what is there is left to git.
 */


/** A value in the file's syntax: always quoted, since that is never wrong. */
function quoted(value) {
    if (value.includes('\0'))
        throw new engine_errors/* CheckoutError */.vd('config-invalid', 'a configuration value has a NUL byte');
    return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}
/** The variables' lines of a section. */
function formatValues(values) {
    // Bare where every reader agrees on it, which is how git writes such values too.
    return values
        .map(([name, value]) => `\t${name} = ${/^[\w+*:/.@~-]+$/.test(value) ? value : quoted(value)}\n`)
        .join('');
}
/**
 * The configuration file's bytes with the variables added: to its last section when that is the one, else in a new
 * section at the end. Pure.
 *
 * @throws CheckoutError 'config-invalid' for a name or value that the syntax cannot hold
 */
function withSection(content, section, subsection, values) {
    if (/[\n\0]/.test(subsection)) {
        throw new engine_errors/* CheckoutError */.vd('config-invalid', "a configuration section's name has a line feed or NUL byte");
    }
    const header = `[${section} "${subsection.replace(/["\\]/g, '\\$&')}"]`;
    const separator = content.length > 0 && content[content.length - 1] !== 10 ? '\n' : '';
    const lastHeader = content
        .toString('latin1')
        .split('\n')
        .findLast((line) => line.trimStart().startsWith('['));
    const continued = lastHeader === Buffer.from(header).toString('latin1');
    return Buffer.concat([content, Buffer.from(`${separator}${continued ? '' : `${header}\n`}${formatValues(values)}`)]);
}
/**
 * Adds variables to the configuration file at `path` under its lock; the file's mode stays.
 *
 * @throws CheckoutError 'ref-locked' when the file is locked, 'io', and as withSection
 */
function append_section_appendToConfig(path, section, subsection, values) {
    let file;
    let descriptor;
    let lock;
    try {
        file = external_node_fs_.realpathSync.native(path); // a link stays a link
        lock = `${file}.lock`;
        descriptor = (0,external_node_fs_.openSync)(lock, 'wx', (0,external_node_fs_.statSync)(file).mode & 0o777);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'EEXIST') {
            throw new engine_errors/* CheckoutError */.vd('ref-locked', `'${path}.lock' exists: another git process may be running`, { path });
        }
        throw (0,engine_errors/* ioError */.bD)('lock', path, error);
    }
    try {
        try {
            // Read under the lock: what another process has just added must stay.
            (0,external_node_fs_.writeFileSync)(descriptor, withSection((0,external_node_fs_.readFileSync)(file), section, subsection, values));
        }
        finally {
            (0,external_node_fs_.closeSync)(descriptor);
        }
        (0,external_node_fs_.renameSync)(lock, file);
    }
    catch (error) {
        (0,external_node_fs_.rmSync)(lock, { force: true });
        throw (0,engine_errors/* ioError */.bD)('write', file, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/index/shared-permissions.js
/**
 * core.sharedRepository: whom else, beside the user, files of the git directory are for. What is made there gets these
 * permissions on top of the umask's, or in their place (git-config).
 */



const GROUP = { bits: 0o660, isExact: false };
const EVERYBODY = { bits: 0o664, isExact: false };
const NAMES = new Map([
    ['umask', null],
    ['group', GROUP],
    ['all', EVERYBODY],
    ['world', EVERYBODY],
    ['everybody', EVERYBODY],
    ['true', GROUP],
    ['yes', GROUP],
    ['on', GROUP],
    ['false', null],
    ['no', null],
    ['off', null],
    ['', null],
]);
/** What the numbers of old versions stand for. */
const OLD_NUMBERS = new Map([
    [0, null],
    [1, GROUP],
    [2, EVERYBODY],
]);
/** Everything made in a directory belongs to the directory's group. */
const SET_GROUP_ID = 0o2000;
/**
 * The meaning of core.sharedRepository.
 * @param value undefined where it is not set, null where it has no value
 * @throws CheckoutError config-invalid for what git refuses
 */
function parseSharedRepository(value) {
    if (value === undefined)
        return null;
    if (value === null)
        return GROUP;
    if (/^[0-7]+$/.test(value)) {
        const mode = Number.parseInt(value, 8);
        const old = OLD_NUMBERS.get(mode);
        if (old !== undefined)
            return old;
        if ((mode & 0o600) === 0o600)
            return { bits: mode & 0o666, isExact: true };
    }
    else {
        // Names are written small; only what is a boolean is one in any case, as is a decimal number.
        const named = NAMES.get(value) ?? (/^(true|yes|on|[1-9][0-9]*)$/i.test(value) ? GROUP : undefined);
        if (named !== undefined)
            return named;
        if (NAMES.has(value) || /^(false|no|off)$/i.test(value))
            return null;
    }
    throw new engine_errors/* CheckoutError */.vd('config-invalid', `core.sharedRepository: '${value}' gives no permissions that git knows`, {
        option: 'core.sharedRepository',
    });
}
/** The mode that a file or directory of this mode gets. */
function sharedMode(mode, { bits, isExact }, isDirectory) {
    let more = bits;
    if ((mode & 0o200) === 0)
        more &= ~0o222;
    if ((mode & 0o100) !== 0)
        more |= (more & 0o444) >> 2;
    let result = isExact ? (mode & ~0o777) | more : mode | more;
    if (isDirectory) {
        result |= (result & 0o444) >> 2;
        if ((result & 0o060) !== 0)
            result |= SET_GROUP_ID;
    }
    return result;
}
/** Gives a file or directory that was made the permissions it should have. @throws what the system does */
function shareFile(path, permissions) {
    if (permissions === null || process.platform === 'win32')
        return;
    const stat = (0,external_node_fs_.lstatSync)(path);
    const mode = stat.mode & 0o7777;
    const wanted = sharedMode(mode, permissions, stat.isDirectory());
    if (wanted !== mode)
        (0,external_node_fs_.chmodSync)(path, wanted);
}
/**
 * The same for directories that `mkdir -p` made.
 * @param first the topmost of them, as mkdirSync tells it; undefined when there was nothing to make
 * @param last the lowest
 */
function shareDirectories(first, last, permissions) {
    if (permissions === null || first === undefined)
        return;
    for (let path = last; path.length >= first.length; path = (0,external_node_path_.dirname)(path))
        shareFile(path, permissions);
}

;// CONCATENATED MODULE: ./build/js/engine/refs/ref-lock.js
/**
 * The lock of a ref file, as git takes it: NAME.lock beside it, made exclusively, holding the new content, renamed into
 * place. Writing at once, before the working tree is touched, also finds a full disk early.
 */




/** git tries for 100 ms (core.filesRefLockTimeout); so do we. */
const LOCK_TIMEOUT_MS = 100;
const RETRY_MS = 10;
/** Blocks this thread; only while another process holds a lock. */
function pause(ms) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
/** Removes directories that hold nothing but directories. False when a file is in the way. */
function removeEmptyDirectories(path) {
    for (const entry of (0,external_node_fs_.readdirSync)(path, { withFileTypes: true })) {
        if (!entry.isDirectory() || !removeEmptyDirectories((0,external_node_path_.join)(path, entry.name)))
            return false;
    }
    (0,external_node_fs_.rmdirSync)(path);
    return true;
}
class ref_lock_RefLock {
    held = true;
    path;
    lockPath;
    constructor(path, lockPath) {
        this.path = path;
        this.lockPath = lockPath;
    }
    /**
     * Locks the ref file at `path`, making its directories. `permissions` are those of core.sharedRepository.
     *
     * @throws CheckoutError 'ref-locked' when another process keeps the lock, 'io'
     */
    static acquire(path, timeoutMs = LOCK_TIMEOUT_MS, permissions = null) {
        const lockPath = `${path}.lock`;
        const deadline = Date.now() + timeoutMs;
        for (;;) {
            try {
                const directory = (0,external_node_path_.dirname)(path);
                shareDirectories((0,external_node_fs_.mkdirSync)(directory, { recursive: true }), directory, permissions);
                const descriptor = (0,external_node_fs_.openSync)(lockPath, 'wx', 0o666);
                const lock = new ref_lock_RefLock(path, lockPath);
                try {
                    (0,external_node_fs_.closeSync)(descriptor);
                    shareFile(lockPath, permissions);
                }
                catch (error) {
                    lock.release();
                    throw error;
                }
                return lock;
            }
            catch (error) {
                const errno = (0,engine_errors/* errnoOf */.UQ)(error);
                // ENOENT: somebody removed the directory that we had just made.
                if (errno !== 'EEXIST' && errno !== 'ENOENT')
                    throw (0,engine_errors/* ioError */.bD)('lock', path, error);
                if (Date.now() >= deadline) {
                    if (errno === 'ENOENT')
                        throw (0,engine_errors/* ioError */.bD)('lock', path, error);
                    throw new engine_errors/* CheckoutError */.vd('ref-locked', `cannot lock '${path}': '${lockPath}' exists; another git process may be running, or one has crashed`, { path: lockPath });
                }
                pause(RETRY_MS);
            }
        }
    }
    /** Writes what the ref will hold. Once. */
    write(content) {
        try {
            const descriptor = (0,external_node_fs_.openSync)(this.lockPath, 'r+');
            try {
                (0,external_node_fs_.writeSync)(descriptor, content);
            }
            finally {
                (0,external_node_fs_.closeSync)(descriptor);
            }
        }
        catch (error) {
            throw (0,engine_errors/* ioError */.bD)('write', this.lockPath, error);
        }
    }
    /** Puts the content into place. Empty directories with the ref's name, left by deleted refs, make way. */
    commit() {
        for (let attempt = 0;; attempt++) {
            try {
                (0,external_node_fs_.renameSync)(this.lockPath, this.path);
                this.held = false;
                return;
            }
            catch (error) {
                const errno = (0,engine_errors/* errnoOf */.UQ)(error);
                // EPERM is how Windows says that the target is a directory.
                const directory = errno === 'EISDIR' || errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'EPERM';
                if (attempt > 0 || !directory || !this.clearDirectory())
                    throw (0,engine_errors/* ioError */.bD)('update', this.path, error);
            }
        }
    }
    /**
     * Gives the lock up; nothing when it was committed or given up before. Never throws: what went wrong before is on its way to the
     * user, other locks are still to be given up, and of a lock that stays the next run tells.
     */
    release() {
        if (!this.held)
            return;
        this.held = false;
        try {
            (0,external_node_fs_.unlinkSync)(this.lockPath);
        }
        catch {
            // See above.
        }
    }
    clearDirectory() {
        try {
            return removeEmptyDirectories(this.path);
        }
        catch {
            return false; // not a directory after all, or not ours to remove
        }
    }
}
/** Removes a file if it is there. */
function removeFile(path) {
    try {
        (0,external_node_fs_.rmSync)(path, { force: true });
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('remove', path, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/refs/branch-state.js
/**
 * Merges, cherry-picks and reverts in progress. A checkout ends them: what is left of them is removed, as
 * `git checkout` does.
 */




const STATE_FILES = [
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'SQUASH_MSG',
    'MERGE_HEAD',
    'MERGE_RR',
    'MERGE_MSG',
    'MERGE_MODE',
    'AUTO_MERGE',
];
/**
 * Why the state in progress needs git itself: it would store the autostash of a merge as a stash entry. Null when a
 * checkout can end the state by itself.
 */
function stateThatNeedsGit(gitDir) {
    return (0,external_node_fs_.existsSync)((0,external_node_path_.join)(gitDir, 'MERGE_AUTOSTASH')) ? 'a merge with an autostash is in progress' : null;
}
/**
 * Removes the state files of a working tree. A sequence of picks goes with its last one; one with more to do stays, so
 * that `git cherry-pick --continue` finds it.
 *
 * @throws CheckoutError 'io'
 */
function removeBranchState(gitDir) {
    const picking = ['CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) => (0,external_node_fs_.existsSync)((0,external_node_path_.join)(gitDir, name)));
    for (const name of STATE_FILES)
        removeFile((0,external_node_path_.join)(gitDir, name));
    if (!picking)
        return;
    const sequencer = (0,external_node_path_.join)(gitDir, 'sequencer');
    let todo;
    try {
        todo = (0,external_node_fs_.readFileSync)((0,external_node_path_.join)(sequencer, 'todo'), 'utf8');
    }
    catch {
        return; // a single pick keeps no list
    }
    if (todo.split('\n').filter((line) => line !== '').length > 1)
        return;
    try {
        (0,external_node_fs_.rmSync)(sequencer, { recursive: true, force: true });
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('remove', sequencer, error);
    }
}

// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __nccwpck_require__(8161);
;// CONCATENATED MODULE: ./build/js/engine/refs/identity.js
/**
 * Who moved a ref: the committer that a reflog line names, by git's rules (git-commit(1), "COMMIT INFORMATION") with
 * their fallbacks, so that a machine without any configuration can check out. One difference: a host name without a
 * dot gets ".(none)" at once, where git would ask the network for the full name first.
 */


/** Asks the system. A user id without an account (usual in containers) is "unknown", as git has it. */
function systemUser() {
    let login;
    let fullName;
    try {
        const { username, uid } = (0,external_node_os_.userInfo)();
        login = username;
        const account = readText('/etc/passwd')
            .split('\n')
            .map((line) => line.split(':'))
            .find((fields) => fields[2] === String(uid));
        const capitalised = login.slice(0, 1).toUpperCase() + login.slice(1);
        fullName = (account?.[4] ?? '').split(',')[0].replaceAll('&', () => capitalised);
    }
    catch {
        login = 'unknown';
        fullName = 'Unknown';
    }
    const mailname = readText('/etc/mailname').split('\n')[0].trim();
    const host = (0,external_node_os_.hostname)();
    return { login, fullName, mailHost: mailname !== '' ? mailname : host.includes('.') ? host : `${host}.(none)` };
}
function readText(path) {
    try {
        return (0,external_node_fs_.readFileSync)(path, 'utf8');
    }
    catch {
        return ''; // not on every system
    }
}
/** Without what would break a reflog line, and without punctuation around it. */
function withoutCrud(text) {
    // eslint-disable-next-line no-control-regex -- control characters are what git drops
    const crud = /^[\u0000-\u0020.,:;<>"\\']+|[\u0000-\u0020.,:;<>"\\']+$/g;
    return text.replace(crud, '').replace(/[\n<>]/g, '');
}
const filled = (...values) => values.find((value) => value !== undefined && value !== '');
/**
 * "NAME <EMAIL> EPOCH ZONE" as in reflogs.
 *
 * @param now milliseconds since 1970
 * @param offsetMinutes east of Greenwich
 */
function committerLine(config, environment, now, offsetMinutes, lookUp = systemUser) {
    let user;
    const system = () => (user ??= lookUp());
    const name = filled(environment['GIT_COMMITTER_NAME'], config.get('committer.name'), config.get('user.name')) ??
        filled(system().fullName.trim(), system().login);
    const email = filled(environment['GIT_COMMITTER_EMAIL'], config.get('committer.email'), config.get('user.email'), environment['EMAIL']) ?? `${system().login}@${system().mailHost}`;
    const date = parseDate(environment['GIT_COMMITTER_DATE']) ?? `${Math.floor(now / 1000)} ${zone(offsetMinutes)}`;
    return `${withoutCrud(name)} <${withoutCrud(email)}> ${date}`;
}
function zone(offsetMinutes) {
    const minutes = Math.abs(offsetMinutes);
    const digits = (value) => String(value).padStart(2, '0');
    return `${offsetMinutes < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}${digits(minutes % 60)}`;
}
/**
 * GIT_COMMITTER_DATE in git's own form ("@1700000000 +0100"), or ISO 8601 or RFC 2822 with a zone; null when it is
 * unset or in a form that we do not read (git's relative dates), for which the time now stands in.
 */
function parseDate(text) {
    if (text === undefined)
        return null;
    const raw = /^\s*@?(\d{1,15})\s+([+-]\d{4})\s*$/.exec(text);
    if (raw !== null)
        return `${raw[1]} ${raw[2]}`;
    const offset = /([+-])(\d\d):?(\d\d)\s*$|(Z)\s*$/i.exec(text);
    const time = Date.parse(text);
    if (offset === null || Number.isNaN(time))
        return null;
    return `${Math.floor(time / 1000)} ${offset[4] === undefined ? `${offset[1]}${offset[2]}${offset[3]}` : '+0000'}`;
}

;// CONCATENATED MODULE: ./build/js/engine/refs/reflog.js
/**
 * Reflog lines: OLD NEW COMMITTER TAB MESSAGE. Whether a new log is begun depends on core.logAllRefUpdates; one that
 * exists is always continued.
 */






/** Whether a ref that has no log yet gets one (git-config(1), core.logAllRefUpdates; unset: true with a working tree). */
function beginsReflog(config, name) {
    const setting = config.getBoolOrText('core.logAllRefUpdates') ?? true;
    if (typeof setting === 'string')
        return setting.toLowerCase() === 'always';
    return setting && (name === 'HEAD' || /^refs\/(heads|remotes|notes)\//.test(name));
}
/** One line. White space in the message becomes single blanks, so it stays one. */
function reflogLine(oldOid, newOid, committer, message) {
    const old = oldOid ?? '0'.repeat(newOid.length);
    return `${old} ${newOid} ${committer}\t${message.replace(/\s+/g, ' ').trim()}\n`;
}
/**
 * Appends a line to the log of `name`.
 *
 * @throws CheckoutError 'io'
 */
function appendReflog(dirs, config, name, line) {
    const path = reflogPath(dirs, name);
    try {
        const stat = (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false });
        if (stat?.isFile() !== true && !beginsReflog(config, name))
            return;
        // Directories that the logs of deleted branches left.
        if (stat?.isDirectory() === true)
            removeEmptyDirectories(path);
        const permissions = parseSharedRepository(config.getAll('core.sharedRepository').at(-1));
        if (stat === undefined) {
            const directory = (0,external_node_path_.dirname)(path);
            shareDirectories((0,external_node_fs_.mkdirSync)(directory, { recursive: true }), directory, permissions);
        }
        (0,external_node_fs_.appendFileSync)(path, line, { mode: 0o666 });
        shareFile(path, permissions);
    }
    catch (error) {
        // The log of a branch that this one's name passes through ('a' against 'a/b'), left by that branch's deletion.
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOTDIR' && !beginsReflog(config, name))
            return;
        throw (0,engine_errors/* ioError */.bD)('append to', path, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/refs/worktree-branches.js
/**
 * Which branches other working trees of the repository have checked out. Two working trees on one branch would pull it
 * from under each other, so git refuses that, and so do we.
 */




/** The first 4 KiB of a small file as one line; null when it cannot be read. */
function readLine(path) {
    let file;
    try {
        file = (0,external_node_fs_.openSync)(path, 'r');
    }
    catch {
        return null;
    }
    try {
        const bytes = Buffer.alloc(4096);
        return bytes
            .toString('utf8', 0, (0,external_node_fs_.readSync)(file, bytes, 0, bytes.length, 0))
            .split('\n')[0]
            .trimEnd();
    }
    catch {
        return null; // a directory
    }
    finally {
        (0,external_node_fs_.closeSync)(file);
    }
}
/** Whether the working tree with this git directory is on `refName`, or in the middle of rebasing or bisecting it. */
function uses(dirs, refName) {
    let head;
    try {
        head = readRef(dirs, 'HEAD');
    }
    catch {
        return false; // a broken working tree holds nothing
    }
    if (head?.kind === 'symbolic')
        return head.target === refName;
    const short = refName.replace(/^refs\/heads\//, '');
    return (readLine((0,external_node_path_.join)(dirs.gitDir, 'rebase-merge', 'head-name')) === refName ||
        readLine((0,external_node_path_.join)(dirs.gitDir, 'rebase-apply', 'head-name')) === refName ||
        readLine((0,external_node_path_.join)(dirs.gitDir, 'BISECT_START')) === short);
}
/** The path of another working tree that uses the branch `refName`, or null. */
function otherWorktreeUsing(dirs, config, refName) {
    const { commonDir } = dirs;
    const own = (0,external_node_path_.resolve)(dirs.gitDir);
    if (own !== (0,external_node_path_.resolve)(commonDir) && config.getBool('core.bare') !== true) {
        if (uses({ gitDir: commonDir, commonDir }, refName)) {
            return (0,external_node_path_.basename)(commonDir) === '.git' ? (0,external_node_path_.dirname)(commonDir) : commonDir;
        }
    }
    const folder = (0,external_node_path_.join)(commonDir, 'worktrees');
    let names;
    try {
        names = (0,external_node_fs_.readdirSync)(folder);
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
        if (errno === 'ENOENT' || errno === 'ENOTDIR')
            return null;
        throw (0,engine_errors/* ioError */.bD)('read', folder, error);
    }
    for (const name of names) {
        const gitDir = (0,external_node_path_.join)(folder, name);
        if ((0,external_node_path_.resolve)(gitDir) === own || !uses({ gitDir, commonDir }, refName))
            continue;
        const gitFile = readLine((0,external_node_path_.join)(gitDir, 'gitdir'));
        // Relative since 2.48 where worktree.useRelativePaths is set.
        return gitFile === null ? gitDir : (0,external_node_path_.dirname)((0,external_node_path_.resolve)(gitDir, gitFile));
    }
    return null;
}

;// CONCATENATED MODULE: ./build/js/engine/refs/head-update.js
/**
 * Moves HEAD, and makes or moves the branch it goes to, in two steps: every lock is taken and every new content written
 * before the working tree is touched, and put into place when it is done. Reflog lines read as `git checkout` writes them.
 */










/**
 * Locks HEAD and the branch, checks that the change is possible, and writes the new contents beside the old.
 *
 * @throws CheckoutError 'ref-locked' (a lock is held, another working tree uses the branch, a ref is in the way),
 *   'unknown-revision', 'io'
 */
function prepareHeadUpdate(facts, change) {
    const locks = [];
    const abort = () => {
        for (const lock of locks.splice(0))
            lock.release();
    };
    try {
        return prepare(facts, change, locks, abort);
    }
    catch (error) {
        abort();
        throw error;
    }
}
function prepare(facts, change, locks, abort) {
    const { dirs, config } = facts;
    const timeout = config.getInt('core.filesRefLockTimeout');
    const permissions = parseSharedRepository(config.getAll('core.sharedRepository').at(-1));
    const lock = (name) => {
        const taken = ref_lock_RefLock.acquire(ref_names_refPath(dirs, name), timeout, permissions);
        locks.push(taken);
        return taken;
    };
    const headLock = lock('HEAD');
    const head = readRef(dirs, 'HEAD');
    const onBranch = head?.kind === 'symbolic' ? head.target : null;
    const headOid = read_refs_resolveRef(dirs, 'HEAD')?.oid ?? null;
    // Where HEAD's branch is a symbolic ref, git names the one that it leads to.
    const atEnd = onBranch === null ? null : (read_refs_resolveRef(dirs, 'HEAD')?.name ?? onBranch);
    const from = (atEnd === null ? null : branchOf(atEnd)) ?? headOid ?? '(invalid)';
    const message = (to) => facts.reflogMessage ?? facts.environment['GIT_REFLOG_ACTION'] ?? `checkout: moving from ${from} to ${to}`;
    const log = (name, oldOid, newOid, text) => {
        appendReflog(dirs, config, name, reflogLine(oldOid, newOid, committer(facts), text));
    };
    if (change.kind === 'detach') {
        headLock.write(`${change.oid}\n`);
        // Detached at this commit already: git writes no line for a ref that keeps its value.
        const unmoved = onBranch === null && headOid === change.oid;
        return {
            abort,
            commit: () => committing(abort, () => {
                if (!unmoved)
                    log('HEAD', headOid, change.oid, message(change.to));
                headLock.commit();
                removeBranchState(dirs.gitDir);
            }),
        };
    }
    const { refName } = change;
    const branch = branchOf(refName);
    if (branch === null || !ref_names_isValidBranchName(branch)) {
        throw new engine_errors/* CheckoutError */.vd('usage', `'${displayName(refName)}' is not a valid branch name`, {
            option: displayName(refName),
        });
    }
    if (onBranch !== refName)
        refuseBranchInUse(facts, refName, branch);
    // A branch that is a symbolic ref stays one: what it leads to is written, and all on the way there log it.
    const chain = change.kind === 'reset-branch' ? symbolicChain(dirs, refName) : [refName];
    const branchLock = change.kind === 'reset-branch' ? lockBranch(facts, chain[chain.length - 1], lock) : null;
    const oldOid = read_refs_resolveRef(dirs, refName)?.oid ?? null;
    const newOid = change.kind === 'reset-branch' ? change.oid : oldOid;
    if (newOid === null)
        throw unknownRevision(branch, 'is not a branch of this repository');
    branchLock?.write(`${newOid}\n`);
    headLock.write(`ref: ${refName}\n`);
    return {
        abort,
        commit: () => committing(abort, () => {
            let headNow = headOid;
            if (branchLock !== null && change.kind === 'reset-branch') {
                const text = facts.reflogMessage ?? `branch: ${oldOid === null ? 'Created from' : 'Reset to'} ${change.startPoint}`;
                if (oldOid !== newOid)
                    for (const name of chain)
                        log(name, oldOid, newOid, text);
                if (onBranch !== null && chain.includes(onBranch)) {
                    // HEAD moves with its branch, and its log tells, even where the branch keeps its value.
                    log('HEAD', headOid, newOid, text);
                    headNow = newOid;
                }
                if (oldOid === newOid)
                    branchLock.release();
                else
                    branchLock.commit();
            }
            log('HEAD', headNow, newOid, message(branch));
            headLock.commit();
            // The log of a branch that never came to be.
            if (onBranch !== null && ref_names_isValidRefName(onBranch) && !read_refs_refExists(dirs, onBranch)) {
                removeFile(reflogPath(dirs, onBranch));
            }
            removeBranchState(dirs.gitDir);
        }),
    };
}
function committing(abort, work) {
    try {
        work();
    }
    finally {
        // Locks that were committed release nothing; after a failure none stays behind.
        abort();
    }
}
function committer({ config, environment }) {
    const now = new Date();
    return committerLine(config, environment, now.getTime(), -now.getTimezoneOffset());
}
function refuseBranchInUse({ dirs, config }, refName, branch) {
    const path = otherWorktreeUsing(dirs, config, refName);
    if (path === null)
        return;
    throw new engine_errors/* CheckoutError */.vd('ref-locked', `the branch '${displayName(branch)}' is already used by the working tree at '${path}'`, { path });
}
/** A ref and those that it leads to, the last one being no symbolic ref, or not there. */
function symbolicChain(dirs, refName) {
    const end = read_refs_resolveRef(dirs, refName)?.name ?? refName;
    const chain = [refName];
    for (let at = refName; at !== end;) {
        const value = readRef(dirs, at);
        if (value?.kind !== 'symbolic')
            break;
        at = value.target;
        chain.push(at);
    }
    return chain;
}
/** Locks a branch that will be written, and finds what its file would collide with. */
function lockBranch({ dirs }, refName, lock) {
    const conflict = (other) => new engine_errors/* CheckoutError */.vd('ref-locked', `cannot make '${displayName(refName)}' while '${displayName(other)}' exists`, {
        option: displayName(refName),
    });
    // From the top down: below a file nothing can be looked at.
    for (let slash = refName.indexOf('/', 'refs/heads/'.length); slash > 0; slash = refName.indexOf('/', slash + 1)) {
        const parent = refName.slice(0, slash);
        const stat = (0,external_node_fs_.lstatSync)(ref_names_refPath(dirs, parent), { throwIfNoEntry: false });
        if (stat === undefined)
            break;
        if (!stat.isDirectory())
            throw conflict(parent);
    }
    const packed = readPackedRefs(dirs);
    const inTheWay = packed === null ? null : conflictingPackedRef(packed, refName);
    if (inTheWay !== null)
        throw conflict(inTheWay);
    const taken = lock(refName);
    const path = ref_names_refPath(dirs, refName);
    try {
        const stat = (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false });
        if (stat?.isDirectory() === true && !removeEmptyDirectories(path))
            throw conflict(`${refName}/…`);
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('clear', path, error);
    }
    return taken;
}
/**
 * Makes a symbolic ref, such as refs/remotes/origin/HEAD after a clone. No reflog line: git writes none that matters
 * there, and a clone's refs have no past.
 *
 * @throws CheckoutError 'ref-locked', 'io'
 */
function head_update_writeSymbolicRef(dirs, name, target) {
    const lock = RefLock.acquire(refPath(dirs, name));
    try {
        lock.write(`ref: ${target}\n`);
        lock.commit();
    }
    finally {
        lock.release();
    }
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/clone-plan.js
/**
 * Which refs a clone fetches and where HEAD goes then. `git clone` asks the remote for all of its refs to decide this;
 * a branch that is named needs no question. Pure.
 */



const ALL_BRANCHES = '+refs/heads/*:refs/remotes/origin/*';
const ALL_TAGS = '+refs/tags/*:refs/tags/*';
/** Where a ref of the remote is kept here, as actions/checkout keeps them. */
function localRef(ref) {
    if (ref.startsWith('refs/heads/'))
        return `refs/remotes/origin/${ref.slice('refs/heads/'.length)}`;
    if (ref.startsWith('refs/pull/'))
        return `refs/remotes/pull/${ref.slice('refs/pull/'.length)}`;
    return ref;
}
/**
 * The ways to fetch `ref` (a branch, tag, full ref or commit id), in the order to try them.
 *
 * @param ref what was asked for; undefined for the remote's HEAD, which `head` then tells
 * @param depth commits of history; with one, only what is needed is fetched, as `git clone --depth` does
 * @throws CheckoutError 'usage' when `ref` can be no ref
 */
function clone_plan_planCloneRefspecs(ref, depth, head) {
    const single = depth !== undefined;
    const attempt = (source, target, configured) => ({
        refspecs: single ? [`+${source}:${localRef(source)}`] : withAll(source),
        tags: true,
        configuredRefspec: single ? configured : ALL_BRANCHES,
        target,
        remoteHead: head?.kind === 'branch' ? head.branch : null,
    });
    const branch = (name) => {
        const source = `refs/heads/${name}`;
        const target = { kind: 'branch', branch: name, startPoint: localRef(source) };
        return attempt(source, target, `+${source}:${localRef(source)}`);
    };
    const other = (source) => {
        return attempt(source, { kind: 'detach', revision: localRef(source) }, `+${source}:${localRef(source)}`);
    };
    if (ref === undefined) {
        if (head === null || head.kind === 'empty')
            return [];
        return head.kind === 'branch' ? [branch(head.branch)] : commit(head.oid, single);
    }
    if (formatOfHexOid(ref) !== null)
        return commit(ref.toLowerCase(), single);
    if (!isValidRefName(ref) || ref.startsWith('-')) {
        throw new CheckoutError('usage', `'${ref}' is not the name of a branch, tag or ref, nor a commit id`, {
            option: 'ref',
        });
    }
    if (ref.startsWith('refs/heads/')) {
        const name = ref.slice('refs/heads/'.length);
        if (isValidBranchName(name))
            return [branch(name)];
    }
    if (ref.startsWith('refs/'))
        return [other(ref)];
    return [branch(ref), other(`refs/tags/${ref}`)];
}
/** Every branch and tag, and `source` where they do not hold it already. */
function withAll(source) {
    const all = [ALL_BRANCHES, ALL_TAGS];
    // The named ref comes too even where a pattern covers it: a remote that lacks it then says so.
    return [...all, `+${source}:${localRef(source)}`];
}
function commit(oid, single) {
    const target = { kind: 'detach', revision: oid };
    const shared = { tags: true, configuredRefspec: ALL_BRANCHES, target, remoteHead: null };
    if (single)
        return [{ ...shared, refspecs: [oid] }];
    return [
        { ...shared, refspecs: [ALL_BRANCHES, ALL_TAGS, oid] },
        // A server that gives no commit by its id may have it in a branch.
        { ...shared, refspecs: [ALL_BRANCHES, ALL_TAGS] },
    ];
}
/**
 * Reads the answer of `git ls-remote --symref URL HEAD`: "ref: refs/heads/main TAB HEAD" and "OID TAB HEAD". A HEAD on
 * a branch without commits is told by neither line.
 */
function clone_plan_parseRemoteHead(answer) {
    const lines = answer.split('\n');
    for (const line of lines) {
        const branch = /^ref: refs\/heads\/(.+)\tHEAD$/.exec(line)?.[1];
        if (branch !== undefined && isValidBranchName(branch))
            return { kind: 'branch', branch };
    }
    for (const line of lines) {
        const oid = /^([0-9a-f]{40}|[0-9a-f]{64})\tHEAD$/.exec(line)?.[1];
        if (oid !== undefined)
            return { kind: 'detached', oid };
    }
    return { kind: 'empty' };
}
/** The object format of a remote that answered as `parseRemoteHead` reads it: that of its ids. Null when it gave none. */
function clone_plan_remoteObjectFormat(answer) {
    const oid = /^([0-9a-f]+)\t/m.exec(answer)?.[1];
    return oid === undefined ? null : formatOfHexOid(oid);
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/fetch-error.js
/**
 * What a failed fetch means, read from what git said under LC_ALL=C. git has one exit status for all failures, and the
 * caller must tell a refused token, which no retry mends, from a server that did not answer. Pure.
 */



/** Lines that say that it failed, not why; another line says why. */
const SAYS_NOTHING = /the remote end hung up|early EOF|invalid index-pack output|Could not read from remote repository|correct access rights|and the repository exists|unexpected disconnect|fetch-pack: |^index-pack failed|remote did not send all necessary objects/;
const KINDS = [
    {
        code: 'authentication-failed',
        says: /Authentication failed|could not read (Username|Password)|terminal prompts disabled|requested URL returned error: (401|403)|Permission denied \(|Invalid username or (password|token)|HTTP Basic: Access denied|Host key verification failed/i,
    },
    {
        code: 'unknown-revision',
        says: /couldn't find remote ref|not our ref|no such remote ref|unadvertised object|invalid refspec|Remote branch .* not found/i,
    },
];
/**
 * The error for `stderr` of a git that talked to a remote.
 *
 * @param what what was tried, such as "fetch from 'origin'"
 * @param redact takes secrets out of a text
 */
function fetch_error_fetchError(stderr, exitCode, what, redact) {
    const lines = stderr
        .split(/[\r\n]/)
        .map((line) => line.trim())
        .filter((line) => line !== '');
    for (const { code, says } of KINDS) {
        const line = lines.find((each) => says.test(each));
        if (line !== undefined)
            return new engine_errors/* CheckoutError */.vd(code, `${what} failed: ${show(line, redact)}`);
    }
    const telling = lines.filter((line) => /^(fatal|error|ERROR|ssh|remote): /.test(line) && !SAYS_NOTHING.test(line));
    const line = telling.find((each) => each.startsWith('fatal: ')) ??
        telling.find((each) => !each.startsWith('remote: ')) ??
        telling[0] ??
        lines.find((each) => each.startsWith('fatal: ')) ??
        lines.at(-1) ??
        `git ended with status ${exitCode}`;
    return new engine_errors/* CheckoutError */.vd('fetch-failed', `${what} failed: ${show(line, redact)}`);
}
/** The remote's object format when a fetch failed because the repository has the other one; null for any other failure. */
function fetch_error_formatThatRemoteHas(error) {
    if (!(error instanceof engine_errors/* CheckoutError */.vd) || error.code !== 'fetch-failed')
        return null;
    const name = / mismatched algorithms: client sha\d+; server (sha\d+)$/.exec(error.message)?.[1];
    return [SHA1, oid_SHA256].find((format) => format.name === name) ?? null;
}
function show(line, redact) {
    const text = displayBytes(Buffer.from(redact(line.replace(/^(fatal|error): /, ''))));
    return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/fetch-progress.js
const fetch_progress_UNITS = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** The numbers of a "Receiving objects" line, objects counted as files; null for any other line. */
function receivingProgress(line) {
    const match = /^Receiving objects:\s+\d+% \((\d+)\/(\d+)\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?/.exec(line);
    if (match === null)
        return null;
    const bytes = match[3] === undefined ? 0 : Number(match[3]) * (fetch_progress_UNITS[match[4]] ?? 1);
    return { phase: 'fetch', filesDone: Number(match[1]), filesTotal: Number(match[2]), bytesDone: Math.round(bytes) };
}
/** Whether a line is a meter in motion, which a log would show a hundred times; its last state is not. */
function isMeterInMotion(line) {
    return /:\s+\d+%? ?\(?[\d/]*\)?/.test(line) && /^(remote: )?[A-Z][a-z]+ [a-z ]+:/.test(line) && !/done\.$/.test(line);
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/redact.js
/**
 * Keeps credentials out of what is shown: user names and passwords in URLs, and values of an environment that was given
 * for one fetch. Everything that git prints goes through here before it becomes a message.
 */
/** Shorter values are words such as 'true', and hiding them everywhere would hide the message. */
const MIN_SECRET_LENGTH = 8;
/** The text with the user information of every URL removed: https://user:secret@host/ -> https://host/. */
function redact_redactUrls(text) {
    return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/gi, '$1');
}
/** A function that redacts URLs, and the values that `env` holds, from a text. */
function redact_redactor(env = {}) {
    const secrets = new Set();
    for (const [name, value] of Object.entries(env)) {
        // Keys and counts are no secrets, and switches are words.
        if (/^GIT_CONFIG_(KEY_\d+|COUNT)$/.test(name))
            continue;
        // "AUTHORIZATION: basic XXXX": the last part alone is the secret too.
        for (const part of [value, value.split(/\s+/).at(-1) ?? ''])
            if (part.length >= MIN_SECRET_LENGTH)
                secrets.add(part);
    }
    // Longest first, so that no secret is left in part.
    const ordered = [...secrets].sort((a, b) => b.length - a.length);
    return (text) => redact_redactUrls(ordered.reduce((rest, secret) => rest.replaceAll(secret, '***'), text));
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/fetch.js
/**
 * Fetches by the git process. git stores what comes in one step at the end, so a fetch that fails or is stopped leaves
 * the repository as it was, and can be run again.
 */





/** The observer wants a few calls a second; git's meter makes up to a hundred. */
const PROGRESS_INTERVAL_MS = 250;
/** No prompt may wait for an answer that never comes; messages are read, so they must be in English. */
const fetch_FETCH_ENVIRONMENT = {
    GIT_TERMINAL_PROMPT: '0',
    GCM_INTERACTIVE: 'Never',
    LC_ALL: 'C',
};
/** A repack in the background would take packs away from under the checkout that follows. */
const NO_MAINTENANCE = ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];
/**
 * The arguments of `git` for a request. Pure.
 *
 * @throws CheckoutError 'usage' for contradictory or impossible values
 */
function fetchArgs(request, config = []) {
    const { depth, filter } = request;
    if (depth !== undefined && request.unshallow === true) {
        throw new engine_errors/* CheckoutError */.vd('usage', 'a depth and a complete history exclude each other', { option: 'depth' });
    }
    if (depth !== undefined && !(Number.isSafeInteger(depth) && depth > 0 && depth < 2 ** 31)) {
        throw new engine_errors/* CheckoutError */.vd('usage', `'${depth}' is not a depth: it must be a whole number above 0`, {
            option: 'depth',
        });
    }
    const args = [...git_options_configArgs(config), ...NO_MAINTENANCE, '-c', 'protocol.version=2', 'fetch'];
    if (!request.tags)
        args.push('--no-tags');
    if (request.prune)
        args.push('--prune');
    args.push('--no-recurse-submodules', request.progress ? '--progress' : '--quiet');
    if (filter !== undefined)
        args.push(`--filter=${filter}`);
    if (depth !== undefined)
        args.push(`--depth=${depth}`);
    if (request.unshallow === true)
        args.push('--unshallow');
    // Nothing after "--" is an option, whatever its first character.
    args.push('--', request.remote, ...request.refspecs);
    return args;
}
/**
 * Brings what `request` names into the repository at `request.directory`.
 *
 * @throws CheckoutError 'authentication-failed', 'unknown-revision' (the remote lacks it), 'fetch-failed',
 *   'interrupted', 'git-missing', 'usage'
 */
async function fetch_fetchByGit(request, ports, config = []) {
    const { observer } = ports;
    const redact = redact_redactor(request.env);
    const start = performance.now();
    let lastProgress = -Infinity;
    const onStderrLine = (line) => {
        const progress = receivingProgress(line);
        if (progress !== null) {
            const now = performance.now();
            if (now - lastProgress < PROGRESS_INTERVAL_MS && progress.filesDone < progress.filesTotal)
                return;
            lastProgress = now;
            observer.progress(progress);
        }
        if (!isMeterInMotion(line))
            observer.info(redact(line));
    };
    const result = await ports.git({
        args: fetchArgs(request, config),
        cwd: request.directory,
        env: { ...fetch_FETCH_ENVIRONMENT, ...request.env },
        ...(request.signal === undefined ? {} : { signal: request.signal }),
        ...(request.progress ? { onStderrLine } : {}),
    });
    if (result.exitCode !== 0) {
        throw fetch_error_fetchError(result.stderr, result.exitCode, `fetch from '${redact(request.remote)}'`, redact);
    }
    return {
        transport: 'git',
        ms: performance.now() - start,
        reasons: [{ text: 'the objects were fetched by git', decided: true }],
    };
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/clone.js
/**
 * The part of a clone before its checkout: an empty repository with its remote, and the first fetch. What was made is
 * removed again when that fails, as `git clone` does.
 */












/**
 * What a clone's URL means: the absolute path where it is one of an existing repository or bundle here, else itself.
 *
 * @throws CheckoutError 'usage' when it is neither a URL nor something that exists, or looks like an option
 */
function cloneSource(url, cwd) {
    if (url === '' || url.startsWith('-') || /[\0\n]/.test(url)) {
        throw new CheckoutError('usage', `'${redactUrls(url)}' is not a repository's URL`, { option: 'url' });
    }
    const path = resolve(cwd, url);
    if ([path, `${path}.git`, `${path}.bundle`].some((each) => existsSync(each)))
        return path;
    if (url.includes(':'))
        return url;
    throw new CheckoutError('usage', `the repository '${url}' does not exist`, { option: 'url', path: url });
}
/**
 * `git init` of `directory`, and remote.origin.url.
 *
 * @throws CheckoutError 'io' when the directory has something in it, or cannot be made; 'git-failed', 'git-missing'
 */
async function initForClone(directory, url, ports, options = {}) {
    const target = resolve(directory);
    const existed = claimDirectory(target);
    const remove = () => {
        try {
            const made = existed ? readdirSync(target).map((name) => join(target, name)) : [target];
            // Retries: on Windows a process that has just ended may still hold a file.
            for (const path of made)
                rmSync(path, { recursive: true, force: true, maxRetries: 3 });
        }
        catch (error) {
            throw ioError('remove', target, error);
        }
    };
    try {
        const { objectFormat, signal } = options;
        const format = objectFormat === undefined ? [] : [`--object-format=${objectFormat.name}`];
        const result = await ports.git({
            args: [...configArgs(options.config ?? []), 'init', '--quiet', ...format, '--', target],
            env: { LC_ALL: 'C' },
            ...(signal === undefined ? {} : { signal }),
        });
        if (result.exitCode !== 0) {
            const line = result.stderr.split('\n').find((each) => each.startsWith('fatal: ')) ?? result.stderr.split('\n')[0];
            throw new CheckoutError('git-failed', `git init failed: ${line.replace(/^fatal: /, '')}`, { path: target });
        }
        appendToConfig(join(target, '.git', 'config'), 'remote', 'origin', [['url', url]]);
    }
    catch (error) {
        remove();
        throw error;
    }
    return { directory: target, remove };
}
/** Makes the directory, or finds it empty; true when it was there. */
function claimDirectory(target) {
    try {
        if (readdirSync(target).length > 0) {
            throw new CheckoutError('io', `the destination '${target}' exists and is not empty`, {
                path: target,
                errno: 'ENOTEMPTY',
            });
        }
        return true;
    }
    catch (error) {
        if (errnoOf(error) === 'ENOTDIR') {
            throw new CheckoutError('io', `the destination '${target}' exists and is not a directory`, {
                path: target,
                errno: 'ENOTDIR',
            });
        }
        if (errnoOf(error) !== 'ENOENT')
            throw ioError('read', target, error);
    }
    try {
        mkdirSync(target, { recursive: true });
    }
    catch (error) {
        throw ioError('make', target, error);
    }
    return false;
}
/**
 * Asks the remote what its HEAD is.
 *
 * @throws CheckoutError as fetchByGit
 */
async function askRemoteHead(url, ports, options = {}) {
    const { env, signal } = options;
    const result = await ports.git({
        args: [...configArgs(options.config ?? []), '-c', 'protocol.version=2', 'ls-remote', '--symref', '--', url, 'HEAD'],
        env: { ...FETCH_ENVIRONMENT, ...env },
        ...(signal === undefined ? {} : { signal }),
    });
    const redact = redactor(env);
    if (result.exitCode !== 0)
        throw fetchError(result.stderr, result.exitCode, `reading '${redact(url)}'`, redact);
    const answer = result.stdout.toString('utf8');
    return { head: parseRemoteHead(answer), objectFormat: remoteObjectFormat(answer) };
}
/**
 * Makes the repository and fetches into it. When anything fails, nothing of it is left.
 *
 * @param cwd what a relative path in `request.url` or `request.directory` is relative to
 * @throws CheckoutError 'usage', 'io', 'git-failed', and as fetchByGit
 */
async function clone_cloneByGit(request, cwd, ports, env) {
    const { config, depth, ref, signal } = request;
    const options = { env, config, signal };
    const url = cloneSource(request.url, cwd);
    // Refused before anything is made.
    let attempts = ref === undefined ? null : planCloneRefspecs(ref, depth, null);
    const target = resolve(cwd, request.directory);
    // A commit's id tells the format before the remote is asked. 40 digits tell nothing: that is what git makes by itself.
    const ofRef = ref !== undefined && formatOfHexOid(ref) === SHA256 ? SHA256 : undefined;
    let repository = await initForClone(target, url, ports, { ...options, objectFormat: ofRef });
    const makeAgain = async (objectFormat) => {
        repository.remove();
        repository = await initForClone(target, url, ports, { ...options, objectFormat });
    };
    try {
        if (attempts === null) {
            const { head, objectFormat } = await askRemoteHead(url, ports, options);
            attempts = planCloneRefspecs(ref, depth, head);
            if (objectFormat === SHA256)
                await makeAgain(objectFormat);
        }
        const { directory } = repository;
        const dirs = { gitDir: join(directory, '.git'), commonDir: join(directory, '.git') };
        const reflogMessage = `clone: from ${redactUrls(url)}`;
        const fetchAll = async (ways) => await fetchFirst(request, directory, ways, ports, env);
        let fetched = null;
        if (attempts.length > 0) {
            try {
                fetched = await fetchAll(attempts);
            }
            catch (error) {
                // Asking beforehand would cost every clone of a branch a round trip, for a format that is rare.
                const objectFormat = formatThatRemoteHas(error);
                if (objectFormat === null)
                    throw error;
                await makeAgain(objectFormat);
                fetched = await fetchAll(attempts);
            }
        }
        const configured = fetched?.attempt.configuredRefspec ?? '+refs/heads/*:refs/remotes/origin/*';
        appendToConfig(join(dirs.commonDir, 'config'), 'remote', 'origin', [['fetch', configured]]);
        if (fetched === null) {
            ports.observer.warning('the remote repository is empty: there is nothing to check out');
            return { directory, target: null, outcome: null, reflogMessage };
        }
        const { remoteHead, target } = fetched.attempt;
        if (remoteHead !== null && refExists(dirs, `refs/remotes/origin/${remoteHead}`)) {
            writeSymbolicRef(dirs, 'refs/remotes/origin/HEAD', `refs/remotes/origin/${remoteHead}`);
        }
        return { directory, target, outcome: fetched.outcome, reflogMessage };
    }
    catch (error) {
        repository.remove();
        throw error;
    }
}
/** Fetches by the first way that the remote can serve. */
async function fetchFirst(request, directory, attempts, ports, env) {
    let failure;
    for (const attempt of attempts) {
        try {
            const outcome = await fetchByGit({
                directory,
                remote: 'origin',
                refspecs: attempt.refspecs,
                ...(request.depth === undefined ? {} : { depth: request.depth }),
                tags: attempt.tags,
                prune: false,
                progress: true,
                transport: request.transport,
                ...(env === undefined ? {} : { env }),
                ...(request.signal === undefined ? {} : { signal: request.signal }),
            }, ports, request.config);
            return { attempt, outcome };
        }
        catch (error) {
            // Only the first failure names what the user asked for.
            failure ??= error;
            if (!(error instanceof CheckoutError) || error.code !== 'unknown-revision')
                throw error;
        }
    }
    if (failure instanceof CheckoutError && request.ref !== undefined && attempts.length > 1) {
        throw new CheckoutError('unknown-revision', `the remote has no branch, tag or commit '${request.ref}'`, {
            option: 'ref',
        });
    }
    throw failure;
}

;// CONCATENATED MODULE: ./build/js/engine/gitdir/environment.js
/** The environment of this process, not a copy. */
function environment_processEnvironment() {
    return process.env;
}

;// CONCATENATED MODULE: ./build/js/engine/config/config.js
/**
 * git's configuration, as git itself puts it together: system, user, repository and worktree files, includes with
 * their conditions, the environment and `-c`. One `git config --list` reads it all; see
 * docs/decisions/ask-git-for-config.md.
 */




/**
 * All settings, later ones over earlier ones. Keys are written `section.name` or `section.subsection.name`; section and
 * name match in any case, a subsection as written.
 */
class Config {
    entries;
    /** The file of the first setting read, which is the system's when there is one. */
    firstOrigin;
    constructor(entries, firstOrigin) {
        this.entries = entries;
        this.firstOrigin = firstOrigin;
    }
    /**
     * Reads `git config --list --show-origin -z`: origin NUL key [LF value] NUL, again and again.
     *
     * @throws CheckoutError 'config-invalid' when the bytes end in the middle
     */
    static parse(list) {
        const entries = new Map();
        let firstOrigin = null;
        for (let at = 0; at < list.length;) {
            const originEnd = list.indexOf(0, at);
            const end = originEnd < 0 ? -1 : list.indexOf(0, originEnd + 1);
            if (end < 0)
                throw new engine_errors/* CheckoutError */.vd('config-invalid', "the answer of 'git config --list' ends too early");
            const origin = list.toString('utf8', at, originEnd);
            firstOrigin ??= origin;
            const keyed = list.subarray(originEnd + 1, end);
            const cut = keyed.indexOf(10);
            const key = normalKey((cut < 0 ? keyed : keyed.subarray(0, cut)).toString('utf8'));
            const entry = { origin, value: cut < 0 ? null : keyed.subarray(cut + 1) };
            const sameKey = entries.get(key);
            if (sameKey === undefined)
                entries.set(key, [entry]);
            else
                sameKey.push(entry);
            at = end + 1;
        }
        return new Config(entries, firstOrigin);
    }
    /** A configuration of these values alone; for tests and defaults. */
    static of(values) {
        const list = Object.entries(values).map(([key, value]) => `command line:\0${key}${value === null ? '' : `\n${value}`}\0`);
        return Config.parse(Buffer.from(list.join('')));
    }
    /** The last value of a key: its text ('' for a key without '='), or undefined when it is not set. */
    get(key) {
        const entry = this.last(key);
        return entry === undefined ? undefined : (entry.value?.toString('utf8') ?? '');
    }
    /** All values of a key, first to last; null for one without '='. */
    getAll(key) {
        return (this.entries.get(normalKey(key)) ?? []).map(({ value }) => value?.toString('utf8') ?? null);
    }
    /** @throws CheckoutError 'config-invalid' when the value is not a boolean */
    getBool(key) {
        const entry = this.last(key);
        if (entry === undefined)
            return undefined;
        return parseConfigBool(entry.value?.toString('utf8') ?? null) ?? this.refuse(key, entry, 'is not a boolean');
    }
    /**
     * A boolean, or else the text, for keys that take both (core.autocrlf, core.logAllRefUpdates). Numbers count as
     * booleans, as git has it.
     */
    getBoolOrText(key) {
        const entry = this.last(key);
        if (entry === undefined)
            return undefined;
        const text = entry.value?.toString('utf8') ?? null;
        return parseConfigBool(text) ?? text ?? true;
    }
    /** @throws CheckoutError 'config-invalid' when the value is not a number, or one beyond 2^53 */
    getInt(key) {
        const entry = this.last(key);
        if (entry === undefined)
            return undefined;
        const text = entry.value?.toString('utf8');
        return (text === undefined ? null : parseConfigInt(text)) ?? this.refuse(key, entry, 'is not a number');
    }
    /**
     * A path, `~/` put in full. A relative one is left relative.
     *
     * @throws CheckoutError 'config-invalid' for `~user`, `%(prefix)`, an unknown home, a missing value, or invalid UTF-8
     */
    getPath(key, environment) {
        const entry = this.last(key);
        if (entry === undefined)
            return undefined;
        const text = entry.value?.toString('utf8');
        if (text === undefined || !Buffer.from(text).equals(entry.value)) {
            return this.refuse(key, entry, 'is not a path that we can open');
        }
        return expandConfigPath(text, environment) ?? this.refuse(key, entry, 'is not a path that we can expand');
    }
    /** The subsections that a section has, in order of first sight: `filter` -> ['lfs', …]. */
    subsections(section) {
        const prefix = `${section.toLowerCase()}.`;
        const found = new Set();
        for (const key of this.entries.keys()) {
            const end = key.lastIndexOf('.');
            if (key.startsWith(prefix) && end > prefix.length - 1)
                found.add(key.slice(prefix.length, end));
        }
        return [...found];
    }
    /** The system-wide configuration file, where it has any setting; null when there is none or we cannot tell. */
    get systemFile() {
        // git reads the system's file first. A user's file is called .gitconfig or git/config, so the name tells them apart.
        const path = /^file:(.*)$/s.exec(this.firstOrigin ?? '')?.[1];
        return path !== undefined && /[\\/]gitconfig$/.test(path) ? path : null;
    }
    last(key) {
        return this.entries.get(normalKey(key))?.at(-1);
    }
    refuse(key, entry, what) {
        // The value itself stays out of the message: it may be a secret in the wrong place.
        const from = displayBytes(Buffer.from(entry.origin.replace(/^file:/, 'file ').replace(/:$/, '')));
        throw new engine_errors/* CheckoutError */.vd('config-invalid', `the value of '${key}' (${from}) ${what}`, { option: key });
    }
}
/** Section and name in lower case, the subsection between them as it is. */
function normalKey(key) {
    const first = key.indexOf('.');
    const last = key.lastIndexOf('.');
    if (first < 0)
        return key.toLowerCase();
    return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase();
}
/**
 * Asks git for the whole configuration at `location`. Where there is no repository the answer holds the system's and
 * the user's settings alone: opening the repository is what tells.
 *
 * @throws CheckoutError 'config-invalid' with git's own words when a file cannot be read or parsed; 'git-missing'
 */
async function loadConfig(location, git, signal) {
    const result = await git({
        args: [...locationArgs(location), 'config', '--list', '--show-origin', '-z'],
        cwd: location.directory,
        env: { LC_ALL: 'C' },
        ...(signal === undefined ? {} : { signal }),
    });
    if (result.exitCode !== 0) {
        const line = result.stderr.split('\n').find((each) => /^(fatal|error): /.test(each)) ?? result.stderr.split('\n')[0];
        const said = displayBytes(Buffer.from(line.replace(/^(fatal|error): /, '')));
        throw new engine_errors/* CheckoutError */.vd('config-invalid', said === '' ? 'git config --list failed' : said);
    }
    return Config.parse(result.stdout);
}

;// CONCATENATED MODULE: ./build/js/engine/gitdir/repository.js
/**
 * Where a repository keeps its things. git itself is asked, once: discovery is a security decision (safe.directory,
 * bare repositories inside of others), and a second opinion on it is a hole. See docs/decisions/ask-git-for-config.md.
 */







const QUESTIONS = [
    '--is-bare-repository',
    '--is-shallow-repository',
    '--show-object-format', // 2.29; older git repeats what it does not know
    '--show-ref-format', // 2.45
    '--absolute-git-dir',
    '--git-common-dir',
    '--git-path',
    'index',
    '--git-path',
    'objects',
    '--git-path',
    'info/attributes',
    '--git-path',
    'info/sparse-checkout',
    '--show-toplevel', // last: where there is no working tree git stops here, with the other answers given
];
const ANSWERS = 11;
/** What git's message about a repository that it will not open means to us. */
function repositoryError(stderr, directory) {
    const lines = stderr.split('\n').map((line) => line.trim());
    const line = lines.find((each) => each.startsWith('fatal: ')) ?? lines.find((each) => each !== '') ?? '';
    const said = displayBytes(Buffer.from(line.replace(/^fatal: /, '')));
    if (/repo(sitory)? version|repository extension|unknown (object|ref) (format|storage)|repo version is/.test(line)) {
        // "unknown repository extensions found:" lists them on the next lines.
        const listed = lines.slice(lines.indexOf(line) + 1).filter((each) => each !== '');
        const detail = line.endsWith(':') ? ` ${displayBytes(Buffer.from(listed.join(', ')))}` : '';
        return new engine_errors/* CheckoutError */.vd('unsupported-repository', `${said}${detail}`, { path: directory });
    }
    if (/\bconfig\b/.test(line) && /\b(bad|invalid)\b/.test(line)) {
        return new engine_errors/* CheckoutError */.vd('config-invalid', said, { path: directory });
    }
    const remedy = line.includes('dubious ownership')
        ? "; 'git config --global --add safe.directory PATH' allows it"
        : '';
    return new engine_errors/* CheckoutError */.vd('not-a-repository', said === '' ? `not a git repository: '${directory}'` : said + remedy, {
        path: directory,
    });
}
/** A path of git's answer as a string; one that is not UTF-8 cannot be opened by a string and is refused. */
function pathOf(line, base) {
    const text = line.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(line)) {
        throw new engine_errors/* CheckoutError */.vd('not-a-repository', `the path '${displayBytes(line)}' is not valid UTF-8`, {
            path: displayBytes(line),
        });
    }
    return (0,external_node_path_.resolve)(base, text);
}
/** Cuts at LF; the part after the last one is dropped when empty. */
function splitLines(bytes) {
    const lines = [];
    for (let start = 0; start < bytes.length;) {
        let end = bytes.indexOf(10, start);
        if (end < 0)
            end = bytes.length;
        // git for Windows may end lines with CR LF.
        lines.push(bytes.subarray(start, end > start && bytes[end - 1] === 13 ? end - 1 : end));
        start = end + 1;
    }
    return lines;
}
/**
 * Finds the repository as git does, from `location.directory` upwards or at the given places, with the environment's
 * GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE and so on.
 *
 * @throws CheckoutError 'not-a-repository' (none, none that git trusts, or one without a working tree),
 *   'unsupported-repository', 'config-invalid', 'git-missing'
 */
async function openRepository(location, git, signal) {
    // Relative answers are relative to where git ran, links in that path followed.
    let directory;
    try {
        directory = external_node_fs_.realpathSync.native(location.directory);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT') {
            throw new engine_errors/* CheckoutError */.vd('not-a-repository', `no such directory: '${location.directory}'`, {
                path: location.directory,
                errno: 'ENOENT',
            });
        }
        throw (0,engine_errors/* ioError */.bD)('open directory', location.directory, error);
    }
    const result = await git({
        args: [...locationArgs(location), 'rev-parse', ...QUESTIONS],
        cwd: directory,
        env: { LC_ALL: 'C' },
        ...(signal === undefined ? {} : { signal }),
    });
    const lines = splitLines(result.stdout);
    if (result.exitCode !== 0) {
        if (lines.length === ANSWERS - 1) {
            const gitDir = displayBytes(lines[4]);
            const bare = lines[0].toString() === 'true';
            throw new engine_errors/* CheckoutError */.vd('not-a-repository', bare
                ? `'${gitDir}' is a bare repository; give it a working tree with --work-tree`
                : `'${directory}' is not inside the working tree of '${gitDir}'`, { path: gitDir });
        }
        throw repositoryError(result.stderr, directory);
    }
    if (lines.length !== ANSWERS) {
        // A line feed in a path makes more lines than answers, and nothing tells which belongs where.
        throw new engine_errors/* CheckoutError */.vd('not-a-repository', `the path of the repository at '${directory}' has a line feed in it`, {
            path: directory,
        });
    }
    const path = (index) => pathOf(lines[index], directory);
    const gitDir = path(4);
    const workTree = path(10);
    return {
        gitDir,
        commonDir: path(5),
        indexPath: path(6),
        objectsDir: path(7),
        attributesPath: path(8),
        sparsePath: path(9),
        workTree,
        shallow: lines[1].toString() === 'true',
        objectFormat: lines[2].toString() === oid_SHA256.name ? oid_SHA256 : SHA1,
        refFormat: lines[3].toString() === 'reftable' ? 'reftable' : 'files',
        gitOptions: [`--git-dir=${gitDir}`, `--work-tree=${workTree}`, ...git_options_configArgs(location.config ?? [])],
    };
}
/**
 * The repository and its configuration, asked for side by side. When both fail, the repository's error is told: it is
 * the cause.
 *
 * @throws what openRepository and loadConfig throw
 */
async function repository_openRepositoryAndConfig(location, git, signal) {
    const [repository, config] = await Promise.allSettled([
        openRepository(location, git, signal),
        loadConfig(location, git, signal),
    ]);
    if (repository.status === 'rejected')
        throw repository.reason;
    if (config.status === 'rejected')
        throw config.reason;
    return { repository: repository.value, config: config.value };
}

;// CONCATENATED MODULE: ./build/js/engine/gitdir/sparse-settings.js
/**
 * Makes a repository sparse, or ends that: the configuration and the file info/sparse-checkout. `git sparse-checkout` writes
 * them, since where they belong (linked worktrees, config.worktree, settings that have to move there) and what the file
 * looks like are git's own business. But it would also update the working tree, with one process and no workers, and that
 * is the work of the checkout that follows. So it is given an index that does not exist: nothing is tracked then, and the
 * settings are all that it changes.
 */






/**
 * Does what `git sparse-checkout set` or `disable` does, but for the working tree and the index. The patterns are those that
 * `parseSparseSetting` lets through.
 *
 * @throws CheckoutError 'git-failed', 'io', and as openRepository
 */
async function writeSparseSettings(location, setting, git, signal) {
    const cone = setting.kind === 'cone';
    const folder = temporaryFolder();
    const run = async (args, input) => await git({
        // No hook is to hear of an index that is not the repository's, nor half of it to be put beside the real one.
        args: [...locationArgs(location), '-c', `core.hooksPath=${folder}`, '-c', 'core.splitIndex=false', ...args],
        cwd: location.directory,
        env: { LC_ALL: 'C', GIT_INDEX_FILE: (0,external_node_path_.join)(folder, 'index') },
        ...(input === undefined ? {} : { input: Buffer.from(input, 'utf8') }),
        ...(signal === undefined ? {} : { signal }),
    });
    try {
        let result;
        if (setting.kind === 'off') {
            result = await run(['sparse-checkout', 'disable']);
        }
        else {
            const lines = setting.patterns.map((pattern) => `${cone ? sparse_settings_quoted(pattern) : pattern}\n`).join('');
            const mode = cone ? '--cone' : '--no-cone';
            result = await run(['sparse-checkout', 'set', mode, '--stdin'], lines);
            if (result.exitCode === USAGE) {
                // Before 2.35 `set` has no mode of its own.
                result = await run(['sparse-checkout', 'init', ...(cone ? ['--cone'] : [])]);
                if (result.exitCode === 0)
                    result = await run(['sparse-checkout', 'set', '--stdin'], lines);
            }
        }
        if (signal?.aborted === true)
            throw new engine_errors/* CheckoutError */.vd('interrupted', 'interrupted while git set the sparse checkout');
        if (result.exitCode !== 0)
            throw sparseError(result.stderr, location.directory);
    }
    finally {
        (0,external_node_fs_.rmSync)(folder, { recursive: true, force: true, maxRetries: 3 });
    }
}
/** git's exit status for an option that it does not know. */
const USAGE = 129;
function temporaryFolder() {
    try {
        return (0,external_node_fs_.mkdtempSync)((0,external_node_path_.join)((0,external_node_os_.tmpdir)(), 'parallel-checkout-'));
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('make a directory in', (0,external_node_os_.tmpdir)(), error);
    }
}
/** In cone mode git takes a line that begins with a quote for a quoted one. */
function sparse_settings_quoted(pattern) {
    return pattern.startsWith('"') ? `"${pattern.replace(/["\\]/g, '\\$&')}"` : pattern;
}
function sparseError(stderr, directory) {
    const error = repositoryError(stderr, directory);
    const isRepository = !/not a git repository|dubious ownership|must be run in a work tree/.test(stderr);
    if (!isRepository || error.code !== 'not-a-repository')
        return error;
    return new engine_errors/* CheckoutError */.vd('git-failed', `git sparse-checkout failed: ${error.message}`, { path: directory });
}

;// CONCATENATED MODULE: ./build/js/engine/host/mounts.js
/**
 * The mount table, /proc/self/mountinfo (proc_pid_mountinfo(5)): which file system is mounted where. Machines that run
 * containers have thousands of lines, so lines that nobody asked for are skipped before they are taken apart.
 */
/**
 * Parses the table's lines for which `wanted` holds, in order (a later mount lies over an earlier one on the same
 * point). A line looks like `36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`,
 * with any number of optional fields before the dash. Lines of another shape are left out.
 */
function parseMountInfo(text, wanted) {
    const mounts = [];
    for (let start = 0; start < text.length;) {
        let end = text.indexOf('\n', start);
        if (end < 0)
            end = text.length;
        const line = text.slice(start, end);
        start = end + 1;
        const dash = line.indexOf(' - ');
        if (dash < 0)
            continue;
        const [, , , root, mountPoint] = line.slice(0, dash).split(' ', 5);
        const [type, , superOptions = ''] = line.slice(dash + 3).split(' ', 3);
        if (root === undefined || mountPoint === undefined || type === undefined)
            continue;
        const point = mounts_unescape(mountPoint);
        if (!wanted(point, type))
            continue;
        mounts.push({ root: mounts_unescape(root), mountPoint: point, type, superOptions: superOptions.split(',') });
    }
    return mounts;
}
/** Space, tab, newline and backslash stand in the table as a backslash and three octal digits. */
function mounts_unescape(field) {
    if (!field.includes('\\'))
        return field;
    return field.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)));
}
/** Whether absolute path `path` is `folder` or lies below it. */
function isWithin(path, folder) {
    if (folder === '/')
        return true;
    return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}

;// CONCATENATED MODULE: ./build/js/engine/host/roots.js
/**
 * Reading the small text files in which Linux states its facts. Every reader takes the folders that hold them, so that
 * tests can lay out another machine in a temporary folder.
 */

const KERNEL_ROOTS = { proc: '/proc', sys: '/sys' };
/** The file's text; null when it cannot be read, for whatever reason: a fact that is not there is an unknown fact. */
function readTextOrNull(path) {
    try {
        // With 'utf8' this is a single call into Node's C++, a third of the time of other encodings.
        return (0,external_node_fs_.readFileSync)(path, 'utf8');
    }
    catch {
        return null;
    }
}
/** A file that holds one number. 'max' is Infinity; null when unreadable or not a number. */
function readNumberOrNull(path) {
    const text = readTextOrNull(path)?.trim();
    if (text === undefined)
        return null;
    return parseLimit(text);
}
/** '123' -> 123, 'max' -> Infinity, anything else -> null. Negative numbers are kept: cgroup v1 says -1 for no limit. */
function parseLimit(text) {
    if (text === 'max')
        return Infinity;
    return /^-?\d+$/.test(text) ? Number(text) : null;
}
/** The number after `key` in 'key number' or 'key: number kB' lines (memory.stat, meminfo); null without such a line. */
function numberOfKey(text, key) {
    const match = new RegExp(`^${key}:?\\s+(\\d+)`, 'm').exec(text);
    return match === null ? null : Number(match[1]);
}

;// CONCATENATED MODULE: ./build/js/engine/host/control-group.js


/** Version 1 states "no limit" as the largest multiple of a page in 63 bits; no machine has 2^60 bytes. */
const MEMORY_UNLIMITED_FROM = 2 ** 60;
/** Reads the limits. `mounts` are those of type cgroup and cgroup2. What cannot be read counts as no limit. */
function readControlGroupLimits(roots, mounts) {
    const memberships = parseMemberships(readTextOrNull(`${roots.proc}/self/cgroup`) ?? '');
    const unified = levels(roots, mounts, memberships, null);
    const quotas = [...unified.map(cpuQuota2), ...levels(roots, mounts, memberships, 'cpu').map(cpuQuota1)].filter((quota) => quota !== null);
    const memories = [...unified.map(memory2), ...levels(roots, mounts, memberships, 'memory').map(memory1)].filter((memory) => memory !== null);
    const pids = [...unified, ...levels(roots, mounts, memberships, 'pids')]
        .map(pidsLeft)
        .filter((left) => left !== null);
    memories.sort((a, b) => a.limitBytes - a.usedBytes - (b.limitBytes - b.usedBytes) || a.limitBytes - b.limitBytes);
    return {
        cpuQuota: quotas.length === 0 ? null : Math.min(...quotas),
        memory: memories[0] ?? null,
        pidsAvailable: pids.length === 0 ? null : Math.min(...pids),
    };
}
/** Lines of /proc/self/cgroup: 'number:controllers:path'; version 2 is '0::path'. The path may hold colons. */
function parseMemberships(text) {
    const memberships = [];
    for (const line of text.split('\n')) {
        const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
        if (match === null)
            continue;
        const [, controllers = '', path = '/'] = match;
        memberships.push({ controllers: controllers === '' ? [] : controllers.split(','), path });
    }
    return memberships;
}
/**
 * The folders of this process's group and of its parents up to the mount point, innermost first. `controller` names a
 * version 1 hierarchy, null means version 2. Empty when there is no such hierarchy.
 */
function levels(roots, mounts, memberships, controller) {
    const membership = memberships.find((candidate) => controller === null ? candidate.controllers.length === 0 : candidate.controllers.includes(controller));
    if (membership === undefined)
        return [];
    const candidates = mounts.filter((mount) => controller === null ? mount.type === 'cgroup2' : mount.type === 'cgroup' && mount.superOptions.includes(controller));
    // The mount that shows the group and the most of what is above it. Where none shows the group (a container that sees
    // the host's paths but only its own part of the tree), the mount's root is the group or one above it.
    const showing = candidates
        .filter((mount) => isWithin(membership.path, mount.root))
        .sort((a, b) => a.root.length - b.root.length)[0];
    const mount = showing ?? candidates[0];
    if (mount === undefined)
        return [];
    const top = mount.mountPoint.startsWith('/sys/') ? roots.sys + mount.mountPoint.slice(4) : mount.mountPoint;
    const below = showing === undefined ? '' : membership.path.slice(mount.root === '/' ? 0 : mount.root.length);
    const names = below.split('/').filter((name) => name !== '');
    // '..' leads out of our cgroup namespace, to where the mount does not reach.
    if (names.includes('..'))
        return [top];
    const folders = [];
    for (let depth = names.length; depth >= 0; depth--)
        folders.push([top, ...names.slice(0, depth)].join('/'));
    return folders;
}
/** cpu.max: 'quota period' in microseconds, or 'max period'. */
function cpuQuota2(folder) {
    const [quota, period] = (readTextOrNull(`${folder}/cpu.max`) ?? '').trim().split(' ');
    return ratio(parseLimit(quota ?? ''), parseLimit(period ?? ''));
}
/** A quota of -1 means none. */
function cpuQuota1(folder) {
    const quota = readNumberOrNull(`${folder}/cpu.cfs_quota_us`);
    return quota === null || quota <= 0 ? null : ratio(quota, readNumberOrNull(`${folder}/cpu.cfs_period_us`));
}
function ratio(quota, period) {
    if (quota === null || period === null || quota <= 0 || period <= 0 || !Number.isFinite(quota))
        return null;
    return quota / period;
}
/** Above memory.high a group is slowed down hard, above memory.max its processes are killed: the lower one counts. */
function memory2(folder) {
    const limitBytes = Math.min(readNumberOrNull(`${folder}/memory.max`) ?? Infinity, readNumberOrNull(`${folder}/memory.high`) ?? Infinity);
    return withUse(limitBytes, folder, 'memory.current', 'inactive_file');
}
function memory1(folder) {
    const limitBytes = readNumberOrNull(`${folder}/memory.limit_in_bytes`) ?? Infinity;
    return withUse(limitBytes, folder, 'memory.usage_in_bytes', 'total_inactive_file');
}
/** Use counts the file cache too; the part of it that has not been touched lately goes as soon as memory is short. */
function withUse(limitBytes, folder, useFile, cacheKey) {
    if (!(limitBytes >= 0 && limitBytes < MEMORY_UNLIMITED_FROM))
        return null;
    const charged = readNumberOrNull(`${folder}/${useFile}`) ?? 0;
    const cache = numberOfKey(readTextOrNull(`${folder}/memory.stat`) ?? '', cacheKey) ?? 0;
    return { limitBytes, usedBytes: Math.max(0, charged - cache) };
}
function pidsLeft(folder) {
    const limit = readNumberOrNull(`${folder}/pids.max`);
    if (limit === null || !Number.isFinite(limit) || limit < 0)
        return null;
    return Math.max(0, limit - (readNumberOrNull(`${folder}/pids.current`) ?? 0));
}

;// CONCATENATED MODULE: ./build/js/engine/host/cpu-list.js
/**
 * Lists of CPUs as the kernel writes them ('0-3,8,10-11'). A process may be allowed CPUs that are not online, so the
 * number that it can use is the size of the intersection.
 */
/** Parses a list; null when the text is not one. An empty list has no ranges. */
function parseCpuList(text) {
    const trimmed = text.trim();
    if (trimmed === '')
        return [];
    const ranges = [];
    for (const part of trimmed.split(',')) {
        const match = /^(\d+)(?:-(\d+))?$/.exec(part);
        if (match === null)
            return null;
        const first = Number(match[1]);
        const last = Number(match[2] ?? match[1]);
        if (last < first)
            return null;
        ranges.push([first, last]);
    }
    return ranges;
}
/** How many CPUs a list names. Ranges of one list do not overlap. */
function countCpus(list) {
    return list.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}
/** How many CPUs two lists have in common. */
function countCommonCpus(a, b) {
    let sum = 0;
    for (const [aFirst, aLast] of a) {
        for (const [bFirst, bLast] of b)
            sum += Math.max(0, Math.min(aLast, bLast) - Math.max(aFirst, bFirst) + 1);
    }
    return sum;
}

;// CONCATENATED MODULE: ./build/js/engine/host/file-system.js
/**
 * Which kind of file system a folder is on. On Linux two sources are needed: statfs tells the family for certain (its
 * magic number is that of the folder itself), but gives one number for all that is FUSE and one for all versions of
 * NFS; the mount table has the full name, but a path alone can name a mount that another one covers. So the magic
 * number decides and the mount table refines.
 */



const UNKNOWN = { type: 'unknown', network: false };
/** Magic numbers of statfs(2): the kernel's include/uapi/linux/magic.h, and the file systems' own headers. */
const FAMILY_BY_MAGIC = new Map([
    [0xef53, 'ext4'], // ext2 and ext3 too
    [0x9123683e, 'btrfs'],
    [0x58465342, 'xfs'],
    [0x01021994, 'tmpfs'],
    [0x858458f6, 'ramfs'],
    [0x794c7630, 'overlay'],
    [0xf2f52010, 'f2fs'],
    [0x2fc12fc1, 'zfs'],
    [0xca451a4e, 'bcachefs'],
    [0x3153464a, 'jfs'],
    [0x52654973, 'reiserfs'],
    [0x3434, 'nilfs2'],
    [0xf15f, 'ecryptfs'],
    [0x4d44, 'vfat'],
    [0x2011bab0, 'exfat'],
    [0x5346544e, 'ntfs'],
    [0x7366746e, 'ntfs3'],
    [0x7461636f, 'ocfs2'],
    [0x01161970, 'gfs2'],
    [0x65735546, 'fuse'],
    [0x6969, 'nfs'],
    [0xff534d42, 'cifs'],
    [0xfe534d42, 'cifs'], // SMB 2 and 3
    [0x517b, 'cifs'],
    [0x01021997, '9p'],
    [0x00c36400, 'ceph'],
    [0x5346414f, 'afs'],
    [0x6b414653, 'afs'],
    [0x0bd00bd0, 'lustre'],
    [0x19830326, 'beegfs'],
    [0x47504653, 'gpfs'],
    [0x73757245, 'coda'],
    [0x786f4256, 'vboxsf'],
]);
/** Names in the mount table that share a family's magic number. */
const FAMILY_BY_TYPE = new Map([
    ['ext2', 'ext4'],
    ['ext3', 'ext4'],
    ['devtmpfs', 'tmpfs'],
    ['msdos', 'vfat'],
    ['nfs4', 'nfs'],
    ['smb3', 'cifs'],
    ['smbfs', 'cifs'],
    ['fuseblk', 'fuse'],
    ['virtiofs', 'fuse'],
]);
/** Families whose every operation waits on a network, the host of a virtual machine, or another process. */
const WAITING_FAMILIES = new Set([
    'fuse',
    'nfs',
    'cifs',
    '9p',
    'ceph',
    'afs',
    'lustre',
    'beegfs',
    'gpfs',
    'coda',
    'vboxsf',
    // These have no magic number in the table above; the mount table alone names them.
    'drvfs',
    'vmhgfs',
    'prl_fs',
    'pvfs2',
    'panfs',
    'wekafs',
]);
function familyOf(type) {
    return type.startsWith('fuse.') ? 'fuse' : (FAMILY_BY_TYPE.get(type) ?? type);
}
function named(type) {
    return { type, network: WAITING_FAMILIES.has(familyOf(type)) };
}
/**
 * The file system of absolute path `path`. `magic` is what statfs gives for it, null where that failed; `mounts` are
 * in the order of the mount table.
 */
function linuxFileSystem(path, magic, mounts) {
    const family = magic === null ? undefined : FAMILY_BY_MAGIC.get(magic);
    let best;
    for (const mount of mounts) {
        if (!isWithin(path, mount.mountPoint))
            continue;
        if (family !== undefined && familyOf(mount.type) !== family)
            continue;
        // On the same point the later mount lies on top.
        if (best === undefined || mount.mountPoint.length >= best.mountPoint.length)
            best = mount;
    }
    if (best !== undefined)
        return named(best.type);
    return family === undefined ? UNKNOWN : named(family);
}
/**
 * macOS numbers its file systems in the order in which they are registered, so a number says nothing by itself; but
 * the system volume has been APFS in every release that Node 24 runs on.
 */
function macFileSystem(magic, rootMagic) {
    return magic !== null && magic === rootMagic ? named('apfs') : UNKNOWN;
}
/**
 * Windows gives no type without starting a process. But a share, mapped to a drive letter or not, has a real path of
 * the form \\server\share; \\wsl$ and \\wsl.localhost are Linux's files served over 9P.
 */
function windowsFileSystem(realPath) {
    const share = /^\\\\(?:\?\\UNC\\)?([^\\?.][^\\]*)\\/i.exec(realPath);
    if (share === null)
        return UNKNOWN;
    return named(/^wsl(\$|\.localhost)$/i.test(share[1] ?? '') ? '9p' : 'cifs');
}
/** The real path of `path`, or of its nearest parent that exists: a clone's directory may not be there yet. */
function nearestExisting(path) {
    for (let folder = (0,external_node_path_.resolve)(path);; folder = (0,external_node_path_.dirname)(folder)) {
        try {
            return external_node_fs_.realpathSync.native(folder);
        }
        catch {
            if ((0,external_node_path_.dirname)(folder) === folder)
                return folder;
        }
    }
}
/** The type number of statfs(2); null where it fails. */
function statfsMagic(path) {
    try {
        // On 32 bits the kernel's field is signed.
        return (0,external_node_fs_.statfsSync)(path).type >>> 0;
    }
    catch {
        return null;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/host/probe-host.js
/**
 * Asks the machine what it offers, once, before anything is planned. Synchronous and quick (1.6 ms the first time, 0.2 ms
 * once compiled: Node 24, two cores, 20 mounts), starts no process, and never fails: what cannot be found out is null or
 * 'unknown'.
 *
 * Node's own answers are not enough on Linux: os.availableParallelism() is the host's count when the quota is below
 * one core (nodejs/node#59200), and os.cpus() knows no limits at all.
 */






/** Probes this machine. Linux has all the facts; elsewhere there are no control groups. */
function probe_host_probeHost({ workTree, platform = process.platform, roots = KERNEL_ROOTS }) {
    switch (platform) {
        case 'linux':
        case 'android':
            return probeLinux(workTree, platform, roots);
        case 'darwin':
            return {
                ...probeGeneric(platform, null),
                memory: withoutControlGroup(macAvailableBytes((0,external_node_os_.freemem)(), (0,external_node_os_.totalmem)())),
                fileSystem: macFileSystem(statfsMagic(nearestExisting(workTree)), statfsMagic('/')),
            };
        case 'win32':
            return {
                // On Windows this is the process's affinity mask and no more.
                ...probeGeneric(platform, (0,external_node_os_.availableParallelism)()),
                fileSystem: windowsFileSystem(nearestExisting(workTree)),
            };
        default:
            return probeGeneric(platform, null);
    }
}
function probeLinux(workTree, platform, roots) {
    const path = nearestExisting(workTree);
    const mounts = parseMountInfo(readTextOrNull(`${roots.proc}/self/mountinfo`) ?? '', (mountPoint, type) => type === 'cgroup2' || type === 'cgroup' || isWithin(path, mountPoint));
    const group = readControlGroupLimits(roots, mounts);
    const meminfo = readTextOrNull(`${roots.proc}/meminfo`) ?? '';
    const totalBytes = kibibytes(numberOfKey(meminfo, 'MemTotal')) ?? (0,external_node_os_.totalmem)();
    return {
        platform,
        cores: { ...linuxCores(roots), quota: group.cpuQuota },
        memory: {
            totalBytes,
            availableBytes: kibibytes(numberOfKey(meminfo, 'MemAvailable')) ?? Math.min((0,external_node_os_.freemem)(), totalBytes),
            cgroupLimitBytes: group.memory?.limitBytes ?? null,
            cgroupUsedBytes: group.memory?.usedBytes ?? null,
        },
        pidsAvailable: group.pidsAvailable,
        fileSystem: linuxFileSystem(path, statfsMagic(path), mounts),
    };
}
function linuxCores(roots) {
    const online = parseCpuList(readTextOrNull(`${roots.sys}/devices/system/cpu/online`) ?? '') ?? [];
    const status = readTextOrNull(`${roots.proc}/self/status`) ?? '';
    const list = /^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1];
    const allowed = list === undefined ? null : parseCpuList(list);
    if (online.length === 0) {
        // Some sandboxes hide the folder; os.cpus() reads other files, slowly where there are many CPUs.
        const count = Math.max(1, (0,external_node_os_.cpus)().length);
        return { online: count, affinity: allowed === null ? null : Math.min(count, countCpus(allowed)) };
    }
    return { online: countCpus(online), affinity: allowed === null ? null : countCommonCpus(online, allowed) };
}
function kibibytes(count) {
    return count === null ? null : count * 1024;
}
function probeGeneric(platform, affinity) {
    return {
        platform,
        cores: { online: Math.max(1, (0,external_node_os_.cpus)().length), affinity, quota: null },
        memory: withoutControlGroup((0,external_node_os_.freemem)()),
        pidsAvailable: null,
        fileSystem: { type: 'unknown', network: false },
    };
}
function withoutControlGroup(availableBytes) {
    return { totalBytes: (0,external_node_os_.totalmem)(), availableBytes, cgroupLimitBytes: null, cgroupUsedBytes: null };
}
/**
 * macOS fills its memory with cache and keeps hardly any free, and what it would give up is not to be had without
 * starting a process. So a quarter of all memory is taken to be available at least.
 */
function macAvailableBytes(freeBytes, totalBytes) {
    return Math.max(freeBytes, Math.floor(totalBytes / 4));
}

;// CONCATENATED MODULE: ./build/js/engine/plan/route.js
/**
 * Which engine writes the working tree. Pure: a list of things that were found out about the repository goes in, a
 * choice with its reasons comes out.
 */

/**
 * Chooses the engine.
 * @param choice what the user asked for
 * @param needsGit what the repository has that only git can check out, a phrase each
 * @throws CheckoutError unsupported when the user insists on our engine and the repository needs git
 */
function route_routeEngine(choice, needsGit) {
    if (choice === 'git') {
        return { engine: 'git', reasons: [{ about: 'engine', text: 'git, as asked for', decided: true }] };
    }
    if (needsGit.length === 0) {
        const text = choice === 'native' ? 'our own engine, as asked for' : 'our own engine: nothing here needs git';
        return { engine: 'native', reasons: [{ about: 'engine', text, decided: true }] };
    }
    if (choice === 'native') {
        throw new engine_errors/* CheckoutError */.vd('unsupported', `our own engine cannot check this out: ${needsGit.join('; ')}`, {
            option: 'engine',
        });
    }
    return {
        engine: 'git',
        reasons: needsGit.map((text, at) => ({ about: 'engine', text: `git: ${text}`, decided: at === 0 })),
    };
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
        const stat = (0,external_node_fs_.statSync)(absolute, { throwIfNoEntry: false });
        if (stat === undefined)
            return false;
        if (stat.isDirectory())
            return isGitDirectory(absolute);
        if (!stat.isFile() || stat.size > MAX_GITFILE_BYTES)
            return false;
        const text = (0,external_node_fs_.readFileSync)(absolute);
        const match = /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text.toString('latin1'));
        if (match === null)
            return false;
        const target = Buffer.from(match[1] ?? '', 'latin1');
        const base = Buffer.from(paths.absolute(directory, 0, directory.length));
        return isGitDirectory(target[0] === nested_repository_SLASH ? target : Buffer.concat([base, Buffer.of(nested_repository_SLASH), target]));
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
        if (errno === undefined)
            throw error;
        // A file that cannot be opened may be anything, and git takes it for a repository.
        return errno !== 'ENOTDIR' && errno !== 'ELOOP';
    }
}
/** HEAD, objects and refs make a git directory. */
function isGitDirectory(path) {
    const has = (name) => (0,external_node_fs_.lstatSync)(Buffer.concat([path, Buffer.from(`/${name}`)]), { throwIfNoEntry: false }) !== undefined;
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
function displayPath(path, start, end) {
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
        const stat = (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false });
        if (stat === undefined)
            return;
        if (stat.isDirectory())
            removeDirectory(path, keep);
        else
            (0,external_node_fs_.unlinkSync)(path);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) !== 'ENOENT')
            throw (0,engine_errors/* ioError */.bD)('remove', displayBytes(path), error);
    }
}
function removeDirectory(path, keep) {
    if (path.toString('utf8') === keep) {
        const shown = displayBytes(path);
        throw new engine_errors/* CheckoutError */.vd('io', `refusing to remove the current working directory '${shown}'`, { path: shown });
    }
    for (const child of (0,external_node_fs_.readdirSync)(path, { withFileTypes: true, encoding: 'buffer' })) {
        const childPath = Buffer.concat([path, remove_SLASH, child.name]);
        // Some file systems do not tell the type along with the name.
        const known = child.isFile() || child.isSymbolicLink() || child.isDirectory();
        const directory = known ? child.isDirectory() : (0,external_node_fs_.lstatSync)(childPath).isDirectory();
        if (directory)
            removeDirectory(childPath, keep);
        else
            (0,external_node_fs_.unlinkSync)(childPath);
    }
    (0,external_node_fs_.rmdirSync)(path);
}
/**
 * Removes a tracked file or link, as git does: nothing there is fine, anything else that fails is told.
 * @returns null when it is gone, else the errno
 */
function unlinkTracked(path) {
    try {
        (0,external_node_fs_.unlinkSync)(path);
        return null;
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
        (0,external_node_fs_.rmdirSync)(path);
        return true;
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return false;
    }
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
        if (tables.states[entry] !== tables_State.COLLIDED)
            continue;
        const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        try {
            const stat = (0,external_node_fs_.lstatSync)(path, { bigint: true, throwIfNoEntry: false });
            if (stat?.isFile() === true)
                inTheWay.add(`${BigInt.asUintN(32, stat.dev)} ${BigInt.asUintN(32, stat.ino)}`);
        }
        catch (error) {
            if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
                throw error;
        }
    }
    for (let entry = 0; entry < tables.count && inTheWay.size > 0; entry++) {
        if (tables.states[entry] !== tables_State.WRITTEN)
            continue;
        const at = entry * tables_STAT_WORDS;
        const ino = tables.stats[at + STAT.ino] ?? 0;
        if (ino === 0 || !inTheWay.has(`${tables.stats[at + STAT.dev] ?? 0} ${ino}`))
            continue;
        tables.states[entry] = tables_State.COLLIDED;
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
        const [lower, upper] = ['.git', '.GIT'].map((name) => (0,external_node_fs_.lstatSync)(`${workTree}/${name}`, { bigint: true, throwIfNoEntry: false }));
        return lower !== undefined && upper !== undefined && lower.ino === upper.ino && lower.dev === upper.dev;
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
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
const clean_walk_NOTHING = -1;
/** One thread's walk. */
class clean_walk_CleanWalk {
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
            (0,external_node_fs_.rmdirSync)(absolute);
            return false;
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
            if (!(error instanceof engine_errors/* CheckoutError */.vd))
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
                (0,external_node_fs_.rmdirSync)(absolute);
                return 'gone';
            }
            catch (error) {
                const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
            const stat = (0,external_node_fs_.lstatSync)(absolute, { throwIfNoEntry: false });
            return stat === undefined ? null : typeOf(stat);
        }
        catch (error) {
            if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
                throw error;
            return null;
        }
    }
    /** The names in a place, one character a byte; the errno if it cannot be read. */
    #names({ path }) {
        try {
            return (0,external_node_fs_.readdirSync)(this.#paths.absolute(path, 0, path.length), 'latin1');
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
            entries = (0,external_node_fs_.readdirSync)(absolute, { withFileTypes: true, encoding: 'buffer' });
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
            this.unread.push(`cannot look into '${displayPath(path, 0, path.length) || '.'}': ${errno}`);
    }
    /** Removes a file or link; false if it stays. */
    #unlink(absolute, path, end) {
        if (this.#isSpared(absolute))
            return false;
        try {
            (0,external_node_fs_.unlinkSync)(absolute);
            this.removed++;
            return true;
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
            if (errno === undefined)
                throw error;
            if (errno === 'ENOENT')
                return true;
            this.#failed(path, end, errno);
            return false;
        }
    }
    #failed(path, end, why) {
        this.failures.push(`cannot remove '${displayPath(path, 0, end)}': ${why}`);
        return true;
    }
    /** What the index has of a name in a directory; null for nothing. */
    #lookUp(ranges, name) {
        const [low = 0, high = 0, prefix = 0] = ranges;
        const at = this.#first(low, high, prefix, name, clean_walk_NOTHING);
        const isEntry = at < high && this.#compare(at, prefix, name, clean_walk_NOTHING) === 0;
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
        if (extra === clean_walk_NOTHING)
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/clean-arguments.js
/**
 * The same clean by git, where git checks out.
 */

/** Arguments of git for a clean that keeps what lines of a gitignore file name; what they mean is settled here, not by git. */
function cleanArguments(exclude) {
    const patterns = excludePatterns(exclude).map(({ pattern, negative, mustBeDirectory }) => {
        const text = Buffer.from(pattern).toString('utf8');
        return `--exclude=${negative ? '!' : ''}${text}${mustBeDirectory ? '/' : ''}`;
    });
    return ['clean', '-ffdxq', ...patterns];
}

;// CONCATENATED MODULE: ./build/js/engine/run/git-clean.js
/**
 * A clean by `git clean`, before a checkout by git.
 */


/** Of what git says, the lines that are passed on. */
const TOLD_LINES = 20;
/** @throws CheckoutError clean-failed, when what git said has been passed on as warnings; interrupted */
async function cleanByGit(session, { exclude }) {
    const { repository, ports, request, run } = session;
    const started = performance.now();
    const result = await ports.git({
        args: [...repository.gitOptions, ...cleanArguments(exclude)],
        cwd: repository.workTree,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    run.phases.push({ name: 'clean', ms: performance.now() - started });
    if (request.signal?.aborted === true)
        throw new engine_errors/* CheckoutError */.vd('interrupted', 'interrupted while git cleaned');
    const lines = result.stderr.split('\n').filter((line) => line !== '');
    const told = lines.map((line) => line.replace(/^(warning|error|fatal): /, ''));
    for (const line of told.slice(0, TOLD_LINES))
        ports.observer.warning(line);
    if (result.exitCode === 0)
        return;
    throw new engine_errors/* CheckoutError */.vd('clean-failed', `the working tree cannot be cleaned: ${told[0] ?? 'git clean failed'}`);
}

;// CONCATENATED MODULE: ./build/js/engine/run/git-failure.js
/**
 * The error for a git process that failed: the first thing that it called fatal, in one line.
 */

/** @param command as the user knows it, such as `checkout` */
function gitFailure(command, stderr) {
    const lines = stderr.split('\n').map((line) => line.trim());
    const line = lines.find((each) => /^(fatal|error): /.test(each)) ?? lines.find((each) => each !== '') ?? 'no message';
    return new engine_errors/* CheckoutError */.vd('git-failed', `git ${command} failed: ${line.replace(/^(fatal|error): /, '')}`);
}

// EXTERNAL MODULE: ./build/js/engine/report/report.js
var report_report = __nccwpck_require__(2864);
;// CONCATENATED MODULE: ./build/js/engine/run/run-state.js

const NO_PLAN = { workers: 0, lanes: 1, memoryLimitBytes: 0, reasons: [] };
const run_state_NOTHING = { files: 0, kept: 0, excluded: 0, removed: 0, cleaned: 0, bytesWritten: 0 };
function run_state_beginRun(fetched) {
    return {
        startedMs: performance.now(),
        cpuStart: process.cpuUsage(),
        fetched,
        phases: fetched === undefined ? [] : [{ name: 'fetch', ms: fetched.ms }],
        plan: NO_PLAN,
        engine: 'native',
        commit: null,
        fallbacks: [],
    };
}
function run_state_report(run, totals, workers, skipped, error) {
    const cpu = process.cpuUsage(run.cpuStart);
    const json = error?.toJSON();
    return {
        schemaVersion: report_report/* REPORT_SCHEMA_VERSION */.W,
        commit: run.commit,
        engine: run.engine,
        transport: run.fetched?.transport ?? null,
        plan: {
            ...run.plan,
            reasons: [
                ...run.plan.reasons,
                ...(run.fetched?.reasons ?? []).map((reason) => ({ about: 'transport', ...reason })),
            ],
        },
        phases: run.phases,
        workers,
        totals: {
            files: totals.files,
            kept: totals.kept,
            excluded: totals.excluded,
            removed: totals.removed,
            cleaned: totals.cleaned,
            bytesWritten: totals.bytesWritten,
            wallMs: performance.now() - run.startedMs + (run.fetched?.ms ?? 0),
            cpuUserMs: cpu.user / 1000,
            cpuSystemMs: cpu.system / 1000,
            peakRssBytes: process.resourceUsage().maxRSS * 1024,
        },
        skipped,
        fallbacks: run.fallbacks,
        ...(json === undefined ? {} : { error: json }),
    };
}

;// CONCATENATED MODULE: ./build/js/engine/plan/bound.js
/** The bound that decides: the lowest, and of equal ones the first. */
function tightest(bounds) {
    const [first, ...rest] = bounds;
    if (first === undefined)
        throw new RangeError('a decision needs at least one bound');
    return rest.reduce((least, bound) => (bound.limit < least.limit ? bound : least), first);
}
/** Every bound as a reason, in the order given; `decisive` is the one that decided, null if something else did. */
function reasonsOf(about, bounds, decisive) {
    return bounds.map((bound) => ({ about, text: bound.text, decided: bound === decisive }));
}

;// CONCATENATED MODULE: ./build/js/engine/plan/memory.js

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
/**
 * The share of available memory that 'auto' takes. The files that are written pass through the page cache, which a
 * control group charges to us, and the job's other programs go on.
 */
const AUTO_SHARE = 1 / 2;
/** With less than this even the main thread alone has no room for its buffers (12 MiB) and the tables of a big tree. */
const LOWEST_AUTO_LIMIT_BYTES = 32 * MEBIBYTE;
/**
 * Above this 'auto' does not go. Two of git's largest blobs that may still be deltas (core.bigFileThreshold, 512 MiB),
 * base and result, are 1 GiB; this is room for four such pairs, or for 93 workers.
 */
const HIGHEST_AUTO_LIMIT_BYTES = 4 * GIBIBYTE;
/**
 * Chooses the limit. An explicit limit is taken as it is, even where the machine has less, and a reason then says so.
 */
function planMemory(memory, setting) {
    const sources = [
        { limit: memory.availableBytes, text: `${formatMemory(memory.availableBytes)} available on this machine` },
    ];
    if (memory.cgroupLimitBytes !== null) {
        const used = memory.cgroupUsedBytes ?? 0;
        const left = Math.max(0, memory.cgroupLimitBytes - used);
        sources.push({
            limit: left,
            text: `${formatMemory(left)} left in the control group: ${formatMemory(used)} of ${formatMemory(memory.cgroupLimitBytes)} used`,
        });
    }
    const scarcest = tightest(sources);
    const availableBytes = scarcest.limit;
    if (setting !== 'auto') {
        const limitBytes = Math.floor(setting);
        const reasons = [
            { about: 'memory', text: `memory limit ${formatMemory(limitBytes)}, as asked for`, decided: true },
            ...reasonsOf('memory', sources, null),
        ];
        if (limitBytes > availableBytes) {
            reasons.push({
                about: 'memory',
                text: `the limit asked for is more than the ${formatMemory(availableBytes)} available: the system may run out of memory before it is reached`,
                decided: false,
            });
        }
        return { limitBytes, availableBytes, reasons };
    }
    const share = Math.floor(availableBytes * AUTO_SHARE);
    const limitBytes = Math.min(Math.max(share, LOWEST_AUTO_LIMIT_BYTES), HIGHEST_AUTO_LIMIT_BYTES);
    if (limitBytes === share) {
        const reasons = reasonsOf('memory', sources, scarcest).map((reason) => reason.decided
            ? { ...reason, text: `memory limit ${formatMemory(limitBytes)}, half of what there is: ${reason.text}` }
            : reason);
        return { limitBytes, availableBytes, reasons };
    }
    const clamp = limitBytes > share
        ? `memory limit ${formatMemory(limitBytes)}, the lowest that is chosen unasked: half of what there is would be less`
        : `memory limit ${formatMemory(limitBytes)}, the highest that is chosen unasked: half of what there is would be more`;
    return {
        limitBytes,
        availableBytes,
        reasons: [...reasonsOf('memory', sources, null), { about: 'memory', text: clamp, decided: true }],
    };
}
/** '512 MiB', '1.5 GiB', '900 KiB': three digits at most, rounded down so that nothing is promised that is not there. */
function formatMemory(bytes) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let unit = 0;
    let value = bytes;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit++;
    }
    const tenths = Math.floor(value * 10) / 10;
    return `${unit > 0 && value < 10 ? tenths : Math.floor(value)} ${units[unit] ?? ''}`;
}

;// CONCATENATED MODULE: ./build/js/engine/plan/workers.js

const workers_MEBIBYTE = 2 ** 20;
/**
 * What a worker holds while it writes small files. 10 MiB for the thread: each of 16 threads of Node 24.21 raised the
 * resident memory by 11.8 MiB, some of it shared start-up. 12 MiB for its buffers: 1 MiB of pack window, the scratch
 * buffers for one object, and the cache of delta bases.
 */
const WORKER_MEMORY_BYTES = 22 * workers_MEBIBYTE;
/** The workers' own memory may be this share of the limit; the rest is for objects that must be held whole. */
const WORKER_MEMORY_SHARE = 1 / 2;
/**
 * Below so many files workers cost more than they save: a thread takes 15 to 25 ms of CPU to start, and at 70 us of CPU
 * for an ordinary file (Linux 6.12) one thread writes 200 to 350 in that time. It is git's default too
 * (checkout.thresholdForParallelism).
 */
const PARALLEL_THRESHOLD = 100;
/** On Windows starting threads and writing at once cost more; not measured by us, set on the side of caution. */
const PARALLEL_THRESHOLD_WINDOWS = 500;
/** More workers than one for every so many files would be done before the last of them has started. */
const FILES_PER_WORKER = 50;
/**
 * Many writers at once have broken checkouts on Windows (git-for-windows/git#3909, #6250, #6395), and virus scanners sit
 * between a writer and its file. Not measured by us, set on the side of caution.
 */
const WORKERS_ON_WINDOWS = 4;
/**
 * Threads and processes left for others: the four of Node's pool for asynchronous calls, and git with its helpers. A
 * worker itself is one thread.
 */
const PIDS_KEPT = 8;
/**
 * Every bound on the number of workers that applies here, the least of which is the number. Where two are equally low,
 * the first is what a user can change most easily, so it is the one to name.
 */
function boundWorkers(facts, memory) {
    const bounds = [];
    if (facts.workers !== 'auto') {
        const limit = Math.max(0, Math.floor(facts.workers));
        bounds.push({
            limit,
            text: limit === 0 ? 'no workers were asked for: the main thread writes' : `at most ${limit} asked for`,
        });
    }
    bounds.push(filesBound(facts));
    if (facts.host.platform === 'win32') {
        bounds.push({ limit: WORKERS_ON_WINDOWS, text: `at most ${WORKERS_ON_WINDOWS} on Windows` });
    }
    bounds.push(...coresBounds(facts.host.cores), memoryBound(memory));
    if (facts.host.pidsAvailable !== null)
        bounds.push(pidsBound(facts.host.pidsAvailable));
    return bounds;
}
function filesBound({ host, files, thresholdForParallelism }) {
    const isWindows = host.platform === 'win32';
    const threshold = thresholdForParallelism ?? (isWindows ? PARALLEL_THRESHOLD_WINDOWS : PARALLEL_THRESHOLD);
    const what = `${files} ${files === 1 ? 'file' : 'files'}`;
    if (files < threshold) {
        const source = thresholdForParallelism === undefined ? (isWindows ? ' on Windows' : '') : ' of checkout.thresholdForParallelism';
        return { limit: 0, text: `${what}, fewer than the ${threshold}${source} from which workers are started` };
    }
    // A lower threshold says that workers pay for fewer files than we think: at the threshold there are two at least.
    const filesPerWorker = Math.min(FILES_PER_WORKER, Math.max(1, Math.ceil(threshold / 2)));
    const limit = Math.floor(files / filesPerWorker);
    return {
        limit,
        text: `${what}: enough for ${count(limit, 'worker')}, at ${filesPerWorker === 1 ? 'one file' : `${filesPerWorker} files`} each`,
    };
}
/**
 * The cores that the process can keep busy. A part of a core counts as one: a thread more than the quota uses up what
 * the others leave while they wait, and as batches are claimed one by one nobody waits for a thread that the kernel
 * holds back.
 */
function coresBounds({ online, affinity, quota }) {
    const atLeastOne = (cores) => Math.max(1, cores);
    const bounds = [{ limit: atLeastOne(online), text: `${count(online, 'core')} online` }];
    if (affinity !== null) {
        bounds.push({ limit: atLeastOne(affinity), text: `the process may run on ${count(affinity, 'core')}` });
    }
    if (quota !== null) {
        const limit = atLeastOne(Math.ceil(quota));
        const shown = Number(quota.toFixed(2));
        bounds.push({
            limit,
            text: `the control group allows the time of ${count(shown, 'core')}${shown === limit ? '' : `, counted as ${limit}`}`,
        });
    }
    return bounds;
}
function memoryBound({ limitBytes, availableBytes }) {
    const usable = Math.min(limitBytes, availableBytes);
    const limit = Math.max(0, Math.floor((usable * WORKER_MEMORY_SHARE) / WORKER_MEMORY_BYTES));
    return {
        limit,
        text: `memory for ${limit}: ${formatMemory(WORKER_MEMORY_BYTES)} each in half of ${formatMemory(usable)}`,
    };
}
function pidsBound(available) {
    const limit = Math.max(0, available - PIDS_KEPT);
    return {
        limit,
        text: `the control group allows ${available} more threads: ${limit} when ${PIDS_KEPT} are kept free`,
    };
}
function count(number, noun) {
    return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

;// CONCATENATED MODULE: ./build/js/engine/plan/plan-checkout.js



/**
 * Decides workers, lanes and memory limit. Of the reasons about one thing exactly one is marked as the deciding one.
 */
function planCheckout(facts) {
    const memory = planMemory(facts.host.memory, facts.memoryLimitBytes);
    const bounds = boundWorkers(facts, memory);
    const decisive = tightest(bounds);
    return {
        workers: decisive.limit,
        lanes: 1,
        memoryLimitBytes: memory.limitBytes,
        reasons: [...reasonsOf('workers', bounds, decisive), ...lanesReasons(facts.host), ...memory.reasons],
    };
}
/** Where operations wait on a network one might expect several files in flight in a worker; so it is said that there are not. */
function lanesReasons({ fileSystem }) {
    if (!fileSystem.network)
        return [];
    const text = `one file at a time in each worker, on ${fileSystem.type} as on local disks`;
    return [{ about: 'lanes', text, decided: true }];
}

;// CONCATENATED MODULE: ./build/js/engine/run/session.js

/** Files that a plan assumes where none are known: enough that the number is no bound. */
const session_DEFAULT_PLANNED_FILES = 100_000;
function session_planFor({ request, host, config }, files, routeReasons) {
    const threshold = config?.getInt('checkout.thresholdForParallelism');
    const planned = planCheckout({
        host,
        files,
        workers: request.workers,
        memoryLimitBytes: request.memoryLimitBytes,
        ...(threshold === undefined ? {} : { thresholdForParallelism: threshold }),
    });
    return { ...planned, reasons: [...planned.reasons, ...routeReasons] };
}

;// CONCATENATED MODULE: ./build/js/engine/run/git-checkout.js
/**
 * A checkout by `git checkout`, for what our engine does not do; and the counts of what git wrote, from the index before and after.
 */










/** Hands the checkout to `git checkout`, with the workers that our plan would use. */
async function checkoutByGit(session, routeReasons) {
    const { request, repository, ports, run } = session;
    run.engine = 'git';
    run.plan = session_planFor(session, session_DEFAULT_PLANNED_FILES, routeReasons);
    if (request.verify === true) {
        const why = routeReasons.map(({ text }) => text).join('; ');
        throw new engine_errors/* CheckoutError */.vd('unsupported', `git does not verify the objects that it checks out (${why})`, {
            option: 'verify',
        });
    }
    for (const { text } of routeReasons) {
        const reason = text.replace(/^git(: |, )/, '');
        ports.observer.info(`checkout by git: ${reason}`);
        run.fallbacks.push({ stage: 'checkout', reason });
    }
    if (request.engine === 'git')
        run.fallbacks = [];
    const fresh = !(0,external_node_fs_.existsSync)(repository.indexPath);
    const before = indexOrNothing(repository);
    const started = performance.now();
    if (request.clean !== undefined)
        await cleanByGit(session, request.clean);
    if (request.sparse?.kind === 'off')
        await endSparseByGit(session);
    const result = await ports.git({
        args: [
            ...repository.gitOptions,
            '-c',
            `checkout.workers=${Math.max(1, run.plan.workers)}`,
            'checkout',
            '--quiet',
            '--force',
            ...targetArguments(request),
            '--',
        ],
        cwd: repository.workTree,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    run.phases.push({ name: 'git-checkout', ms: performance.now() - started });
    if (request.signal?.aborted === true)
        throw new engine_errors/* CheckoutError */.vd('interrupted', 'interrupted while git checked out');
    if (result.exitCode !== 0)
        throw gitFailure('checkout', result.stderr);
    run.commit = read_refs_resolveRef(repository, 'HEAD')?.oid ?? null;
    const after = indexOrNothing(repository);
    if (after !== null && (fresh || before !== null))
        return run_state_report(run, compareIndexes(before, after), [], []);
    // An index that we cannot read: of a fresh tree all is written, of another one nothing is known.
    const totals = fresh ? await countTracked(session) : run_state_NOTHING;
    return run_state_report(run, totals, [], []);
}
/** `git sparse-checkout disable`, where there is something to end: `git checkout` would not write what was left out. */
async function endSparseByGit({ request, repository, config, ports }) {
    const index = (0,external_node_fs_.existsSync)(repository.indexPath) ? indexOrNothing(repository) : undefined;
    const skipping = index === null ||
        index?.extendedFlags.some((flags) => (flags & index_table_EXTENDED_FLAG.skipWorktree) !== 0) === true ||
        config.getBool('core.sparseCheckout') === true;
    if (!skipping)
        return;
    const result = await ports.git({
        args: [...repository.gitOptions, 'sparse-checkout', 'disable'],
        cwd: repository.workTree,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    if (result.exitCode !== 0)
        throw gitFailure('sparse-checkout', result.stderr);
}
function targetArguments({ target }) {
    switch (target.kind) {
        case 'head':
            return [];
        case 'revision':
            return [target.revision];
        case 'branch':
            return ['-B', target.branch, target.startPoint];
        case 'detach':
            return ['--detach', target.revision];
    }
}
/** The index for counting only: one that we cannot read, or that has directories for files, counts as none. */
function indexOrNothing(repository) {
    try {
        const index = read_whole_index_readWholeIndex(repository, null);
        return index === null || hasSparseDirectories(index) ? null : index;
    }
    catch (error) {
        if (error instanceof engine_errors/* CheckoutError */.vd)
            return null;
        throw error;
    }
}
/** Counts what git wrote into an empty working tree, where the index is of a kind that we cannot read. */
async function countTracked({ repository, ports }) {
    const result = await ports.git({ args: [...repository.gitOptions, 'ls-files', '-z'], cwd: repository.workTree });
    const files = result.stdout.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
    return { ...run_state_NOTHING, files };
}
/** Counts what git wrote: entries whose file is another one than before (inode, time or size). */
function compareIndexes(before, after) {
    let files = 0;
    let bytesWritten = 0;
    let kept = 0;
    let excluded = 0;
    let old = 0;
    const count = after?.count ?? 0;
    const oldCount = before?.count ?? 0;
    let matched = 0;
    const path = (index, at) => index.pathBytes.subarray(index.pathOffsets[at] ?? 0, index.pathOffsets[at + 1] ?? 0);
    for (let entry = 0; after !== null && entry < count; entry++) {
        while (before !== null && old < oldCount && Buffer.compare(path(before, old), path(after, entry)) < 0)
            old++;
        const known = before !== null && old < oldCount && Buffer.compare(path(before, old), path(after, entry)) === 0;
        if (known)
            matched++;
        const same = known && [0, 1, 2, 3, 5, 9].every((word) => before.stats[10 * old + word] === after.stats[10 * entry + word]);
        if (((after.extendedFlags[entry] ?? 0) & index_table_EXTENDED_FLAG.skipWorktree) !== 0)
            excluded++;
        else if (same)
            kept++;
        else if (after.stats[10 * entry + 2] !== 0) {
            files++;
            bytesWritten += after.stats[10 * entry + 9] ?? 0;
        }
    }
    return { files, kept, excluded, removed: oldCount - matched, cleaned: 0, bytesWritten };
}

;// CONCATENATED MODULE: ./build/js/engine/filter/encode.js
let loaded = null;
/** Loads what the encodings of these conversions need. To be awaited before `encode` is called for any of them. */
async function loadTables(conversions) {
    if (loaded !== null || !conversions.some(({ encoding }) => encoding?.kind === 'table'))
        return;
    loaded = await Promise.all(/* import() | encoding-tables */[__nccwpck_require__.e(748), __nccwpck_require__.e(122)]).then(__nccwpck_require__.bind(__nccwpck_require__, 8453));
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

;// CONCATENATED MODULE: ./build/js/engine/index/known-trees.js


const known_trees_SLASH = 0x2f;
/** The trees that an index knows; null where it knows none. */
function knownTrees(index) {
    const content = index.extensions.find(({ signature }) => signature === 'TREE')?.bytes;
    const cache = content === undefined ? null : parseCacheTree(content, index.format.oidBytes);
    return cache === null || index.count === 0 ? null : new Matcher(index, cache).match();
}
/** null where the bytes are no cache tree. */
function parseCacheTree(bytes, oidBytes) {
    const nameStart = [];
    const nameEnd = [];
    const entries = [];
    const oidAt = [];
    const children = [];
    /** Directories with children still to come, and how many. */
    const open = [];
    let at = 0;
    /** A decimal number up to `end`; -2 where there is none. */
    const decimal = (end) => {
        if (bytes[at] === 0x2d && bytes[at + 1] === 0x31 && bytes[at + 2] === end) {
            at += 3;
            return -1;
        }
        let value = 0;
        const start = at;
        for (; at < bytes.length && at - start < 10; at++) {
            const digit = (bytes[at] ?? 0) - 0x30;
            if (digit < 0 || digit > 9)
                break;
            value = value * 10 + digit;
        }
        return at > start && bytes[at++] === end ? value : -2;
    };
    do {
        const start = at;
        while (at < bytes.length && bytes[at] !== 0)
            at++;
        const end = at++;
        const count = decimal(0x20);
        const below = decimal(0x0a);
        if (count < -1 || below < 0)
            return null;
        const number = entries.length;
        const above = open.at(-1);
        if (above !== undefined) {
            (children[above.number] ??= []).push(number);
            if (--above.left === 0)
                open.pop();
        }
        nameStart.push(start);
        nameEnd.push(end);
        entries.push(count);
        oidAt.push(at);
        children.push(undefined);
        if (count >= 0)
            at += oidBytes;
        if (at > bytes.length)
            return null;
        if (below > 0)
            open.push({ number, left: below });
    } while (open.length > 0);
    return at === bytes.length ? { bytes, nameStart, nameEnd, entries, oidAt, children } : null;
}
/** Goes through the entries once and holds the directories that their paths make against the cache tree. */
class Matcher {
    #index;
    #cache;
    #oidBytes;
    #parent = [];
    #pathLength = [];
    #firstEntry = [];
    #entryCount = [];
    #end = [];
    #height = [];
    #isKnown = [];
    /** The directory's number in the cache tree, or -1. */
    #row = [];
    /** Directories right below it. */
    #directoriesBelow = [];
    constructor(index, cache) {
        this.#index = index;
        this.#cache = cache;
        this.#oidBytes = index.format.oidBytes;
    }
    match() {
        const { pathBytes, pathOffsets, count, modes, flags, extendedFlags } = this.#index;
        const directoryOf = new Uint32Array(count);
        this.#open(-1, 0, 0, 0, 0);
        let directory = 0;
        let previous = 0;
        for (let entry = 0; entry < count; entry++) {
            const start = pathOffsets[entry] ?? 0;
            const end = pathOffsets[entry + 1] ?? 0;
            // Directories of the entry before that this one is not in.
            const least = Math.min(end - start, start - previous);
            let common = 0;
            while (common < least && pathBytes[previous + common] === pathBytes[start + common])
                common++;
            while (directory > 0 && (this.#pathLength[directory] ?? 0) >= common) {
                this.#close(directory, entry);
                directory = this.#parent[directory] ?? 0;
            }
            let nameAt = start + (directory === 0 ? 0 : (this.#pathLength[directory] ?? 0) + 1);
            for (let at = nameAt; at < end; at++) {
                if (pathBytes[at] !== known_trees_SLASH)
                    continue;
                directory = this.#open(directory, entry, at - start, nameAt, at);
                nameAt = at + 1;
            }
            directoryOf[entry] = directory;
            const isMerged = ((flags[entry] ?? 0) & FLAG.stage) === 0;
            const isIntended = ((extendedFlags[entry] ?? 0) & index_table_EXTENDED_FLAG.intentToAdd) !== 0;
            const mode = modes[entry] ?? 0;
            const isOrdinary = mode === canonicalMode(mode) && mode !== tree_MODE_TREE;
            if (!isMerged || isIntended || !isOrdinary)
                this.#isKnown[directory] = 0;
            previous = start;
        }
        for (; directory >= 0; directory = this.#parent[directory] ?? -1)
            this.#close(directory, count);
        return {
            index: this.#index,
            count: this.#parent.length,
            parent: Int32Array.from(this.#parent),
            pathLength: Uint32Array.from(this.#pathLength),
            firstEntry: Uint32Array.from(this.#firstEntry),
            entryCount: Uint32Array.from(this.#entryCount),
            end: Uint32Array.from(this.#end),
            height: Uint32Array.from(this.#height),
            isKnown: Uint8Array.from(this.#isKnown),
            oids: this.#oids(),
            directoryOf,
        };
    }
    /** Begins a directory whose own name is in the paths at [nameStart, nameEnd); returns its number. */
    #open(parent, entry, pathLength, nameStart, nameEnd) {
        const row = parent < 0 ? 0 : this.#child(this.#row[parent] ?? -1, nameStart, nameEnd);
        if (parent >= 0)
            this.#directoriesBelow[parent] += 1;
        this.#pathLength.push(pathLength);
        this.#firstEntry.push(entry);
        this.#entryCount.push(0);
        this.#end.push(0);
        this.#height.push(1);
        this.#isKnown.push(row >= 0 && (this.#cache.entries[row] ?? -1) > 0 ? 1 : 0);
        this.#row.push(row);
        this.#directoriesBelow.push(0);
        return this.#parent.push(parent) - 1;
    }
    #close(directory, endEntry) {
        const parent = this.#parent[directory] ?? -1;
        const row = this.#row[directory] ?? -1;
        const entries = endEntry - (this.#firstEntry[directory] ?? 0);
        this.#entryCount[directory] = entries;
        this.#end[directory] = this.#parent.length;
        const directoriesBelow = this.#cache.children[row]?.length ?? 0;
        if (entries !== this.#cache.entries[row] || directoriesBelow !== this.#directoriesBelow[directory]) {
            this.#isKnown[directory] = 0;
        }
        if (parent < 0)
            return;
        this.#height[parent] = Math.max(this.#height[parent] ?? 1, (this.#height[directory] ?? 1) + 1);
        // Nobody knows a tree without the trees in it.
        if (this.#isKnown[directory] === 0)
            this.#isKnown[parent] = 0;
    }
    /** The child of a directory of the cache tree; its children are sorted by length of the name, then by its bytes. */
    #child(row, nameStart, nameEnd) {
        const children = this.#cache.children[row];
        if (children === undefined)
            return -1;
        let low = 0;
        let high = children.length;
        while (low < high) {
            const middle = (low + high) >>> 1;
            const child = children[middle] ?? 0;
            const order = this.#compareName(child, nameStart, nameEnd);
            if (order === 0)
                return child;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
        return -1;
    }
    #compareName(row, nameStart, nameEnd) {
        const { bytes } = this.#cache;
        const { pathBytes } = this.#index;
        const start = this.#cache.nameStart[row] ?? 0;
        const length = (this.#cache.nameEnd[row] ?? 0) - start;
        if (length !== nameEnd - nameStart)
            return length - (nameEnd - nameStart);
        for (let i = 0; i < length; i++) {
            const order = (bytes[start + i] ?? 0) - (pathBytes[nameStart + i] ?? 0);
            if (order !== 0)
                return order;
        }
        return 0;
    }
    #oids() {
        const oidBytes = this.#oidBytes;
        const oids = new Uint8Array(this.#parent.length * oidBytes);
        for (let directory = 0; directory < this.#parent.length; directory++) {
            if (this.#isKnown[directory] === 0)
                continue;
            const at = this.#cache.oidAt[this.#row[directory] ?? 0] ?? 0;
            oids.set(this.#cache.bytes.subarray(at, at + oidBytes), directory * oidBytes);
        }
        return oids;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/path-presence.js
/**
 * Whether paths of a sparse checkout are on disk. Most are not, and whole directories of them are not either, so the
 * topmost directory that was found missing is remembered: a system call for each such directory, not for each path.
 */


const path_presence_SLASH = 0x2f;
class PathPresence {
    #paths;
    /** A directory that is not there, with its slash; empty at the beginning. */
    #missing = new Uint8Array(256);
    #missingLength = 0;
    constructor(paths) {
        this.#paths = paths;
    }
    /** Looks for path[start, end). Paths in the order of the index take the fewest system calls. */
    has(path, start, end) {
        if (this.#isBelowMissing(path, start, end))
            return false;
        if (this.#lstat(path, start, end) !== undefined)
            return true;
        this.#rememberMissing(path, start, end);
        return false;
    }
    /** Whether path[start, end) is a directory and no link to one. */
    hasDirectory(path, start, end) {
        return this.#lstat(path, start, end)?.isDirectory() === true;
    }
    #isBelowMissing(path, start, end) {
        const length = this.#missingLength;
        if (length === 0 || end - start < length)
            return false;
        for (let i = length - 1; i >= 0; i--)
            if (path[start + i] !== this.#missing[i])
                return false;
        return true;
    }
    #rememberMissing(path, start, end) {
        let missingEnd = 0;
        for (let at = end - 1; at > start; at--) {
            if (path[at] !== path_presence_SLASH)
                continue;
            if (this.#lstat(path, start, at) !== undefined)
                break;
            missingEnd = at + 1;
        }
        if (missingEnd === 0)
            return;
        this.#missingLength = missingEnd - start;
        if (this.#missingLength > this.#missing.length)
            this.#missing = new Uint8Array(2 * this.#missingLength);
        this.#missing.set(path.subarray(start, missingEnd));
    }
    /** What cannot be looked at, since something is in its way or may not be entered, counts as not there, as in git. */
    #lstat(path, start, end) {
        try {
            return (0,external_node_fs_.lstatSync)(this.#paths.absolute(path, start, end), { throwIfNoEntry: false });
        }
        catch (error) {
            if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
                throw error;
            return undefined;
        }
    }
}

;// CONCATENATED MODULE: external "node:timers/promises"
const promises_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:timers/promises");
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/clean.js
/**
 * Cleans the working tree. The main thread begins alone, breadth first, so that what is left to do after a moment is many
 * places next to each other. If that was not all, threads are started and share them; the directories that the main
 * thread went through are removed at the end, when all below them is done.
 */




/**
 * How long the main thread cleans alone. A thread took about 120 ms of CPU to start, and a walk over the 5,760 directories of the
 * Linux tree with nothing to remove takes 0.19 s (docs/decisions/clean.md).
 */
const ALONE_MS = 200;
/** Fewer places than this for each thread are too few to share evenly. */
const PLACES_PER_THREAD = 4;
/** The event loop gets a turn this often, for signals. */
const TURN_MS = 30;
/** Paths that are named; of the others the number is. */
const NAMED_FAILURES = 20;
/**
 * Removes what is untracked. Files and links are counted in the result.
 * @throws CheckoutError clean-failed when something could not be removed (the rest is gone, and each path was warned of),
 *   interrupted
 */
async function cleanWorkTree(rules, options) {
    const clean = new Clean(rules, options);
    const outcome = await clean.run();
    for (const line of outcome.unread.slice(0, NAMED_FAILURES))
        options.warn(line);
    const { failures } = outcome;
    const [first] = failures;
    if (first === undefined)
        return outcome.removed;
    for (const line of failures.slice(0, NAMED_FAILURES))
        options.warn(line);
    if (failures.length > NAMED_FAILURES)
        options.warn(`and ${failures.length - NAMED_FAILURES} more`);
    const more = failures.length === 1 ? '' : ` (and ${failures.length - 1} more)`;
    throw new engine_errors/* CheckoutError */.vd('clean-failed', `the working tree cannot be cleaned: ${first}${more}`);
}
class Clean {
    #rules;
    #options;
    #walk;
    #turnAt = performance.now() + TURN_MS;
    constructor(rules, options) {
        this.#rules = rules;
        this.#options = options;
        this.#walk = new clean_walk_CleanWalk(rules);
    }
    async run() {
        const { workers, aloneMs = ALONE_MS } = this.#options;
        const aloneUntil = performance.now() + aloneMs;
        const rows = [{ place: clean_walk_CleanWalk.root(this.#rules), above: null, open: false, stays: false }];
        let next = 0;
        while (next < rows.length) {
            if (performance.now() >= aloneUntil && rows.length - next >= PLACES_PER_THREAD * (workers + 1))
                break;
            const row = rows[next++];
            if (row === undefined)
                break;
            const below = [];
            const visit = this.#walk.visit(row.place, below);
            row.open = visit === 'open';
            row.stays = visit === 'stays';
            for (const place of below)
                rows.push({ place, above: row, open: false, stays: false });
            await this.#turn();
        }
        const others = next < rows.length ? await this.#share(rows.slice(next)) : [];
        // From the innermost: those below a row come after it.
        for (let i = rows.length - 1; i >= 0; i--) {
            const row = rows[i];
            if (row === undefined)
                break;
            const stays = row.open ? this.#walk.leave(row.place, row.stays) : row.stays;
            if (stays && row.above !== null)
                row.above.stays = true;
        }
        const { removed, failures, unread } = this.#walk;
        return {
            removed: others.reduce((sum, other) => sum + other.removed, removed),
            failures: others.reduce((all, other) => [...all, ...other.failures], failures),
            unread: others.reduce((all, other) => [...all, ...other.unread], unread),
        };
    }
    /** Has all threads and this one clean what the rows are places of, and notes in the rows what stays. */
    async #share(rows) {
        this.#stopIfAborted();
        const { workers, pool, signal } = this.#options;
        if (workers > pool.size)
            pool.start(workers - pool.size);
        const share = {
            rules: pool.size === 0 ? this.#rules : { ...this.#rules, tracked: inSharedMemory(this.#rules.tracked) },
            places: rows.map(({ place }) => place),
            states: new Uint8Array(new SharedArrayBuffer(rows.length)),
            control: new Int32Array(new SharedArrayBuffer(8)),
        };
        const stop = () => {
            Atomics.store(share.control, STOP_CLEAN, 1);
        };
        signal?.addEventListener('abort', stop, { once: true });
        try {
            const running = pool.clean(share);
            try {
                for (let at = claimPlace(share); at !== null; at = claimPlace(share))
                    await this.#descend(share, at);
            }
            catch (error) {
                stop();
                await running;
                throw error;
            }
            const outcomes = await running;
            this.#stopIfAborted();
            for (let at = 0; at < rows.length; at++) {
                // A thread that died left its place half-done.
                if (share.states[at] === PlaceState.OPEN)
                    await this.#descend(share, at);
                const row = rows[at];
                if (row !== undefined)
                    row.stays = share.states[at] === PlaceState.STAYS;
            }
            return outcomes;
        }
        finally {
            signal?.removeEventListener('abort', stop);
        }
    }
    async #descend(share, at) {
        const place = share.places[at];
        if (place === undefined)
            return;
        const descent = new Descent(this.#walk, place);
        while (descent.step())
            await this.#turn();
        finishPlace(share, at, descent);
    }
    async #turn() {
        if (performance.now() < this.#turnAt)
            return;
        await (0,promises_namespaceObject.setImmediate)();
        this.#stopIfAborted();
        this.#turnAt = performance.now() + TURN_MS;
    }
    #stopIfAborted() {
        if (this.#options.signal?.aborted === true)
            throw new engine_errors/* CheckoutError */.vd('interrupted', 'interrupted while cleaning');
    }
}
function inSharedMemory({ count, pathBytes, pathOffsets, modes, flags }) {
    const bytes = new Uint8Array(new SharedArrayBuffer(pathOffsets[count] ?? 0));
    bytes.set(pathBytes.subarray(0, bytes.length));
    const offsets = new Uint32Array(new SharedArrayBuffer(4 * (count + 1)));
    offsets.set(pathOffsets.subarray(0, count + 1));
    const sharedModes = new Uint32Array(new SharedArrayBuffer(4 * count));
    sharedModes.set(modes.subarray(0, count));
    const sharedFlags = new Uint16Array(new SharedArrayBuffer(2 * count));
    sharedFlags.set(flags.subarray(0, count));
    return { count, pathBytes: bytes, pathOffsets: offsets, modes: sharedModes, flags: sharedFlags };
}

;// CONCATENATED MODULE: ./build/js/engine/index/stat-words.js



const NANOSECONDS = 1000000000n;
/** Id of the empty blob: the hash of "blob 0" and a NUL. */
const EMPTY_BLOB = {
    sha1: oidFromHex('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'),
    sha256: oidFromHex('473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813'),
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
    if (at + STAT_WORDS > out.length)
        throw (0,engine_errors/* bug */.jr)('stat words beyond their table');
    const windows = platform === 'win32';
    if (windows)
        putTime(stat.birthtimeNs, out, at + STAT.ctimeSeconds);
    else
        putTime(stat.ctimeNs, out, at + STAT.ctimeSeconds);
    putTime(stat.mtimeNs, out, at + STAT.mtimeSeconds);
    out[at + STAT.dev] = windows ? 0 : lowWord(stat.dev);
    out[at + STAT.ino] = windows ? 0 : lowWord(stat.ino);
    out[at + STAT.mode] = entryMode;
    out[at + STAT.uid] = windows ? 0 : lowWord(stat.uid);
    out[at + STAT.gid] = windows ? 0 : lowWord(stat.gid);
    out[at + STAT.size] = lowWord(stat.size);
}
const stat_words_scratch = new Uint32Array(STAT_WORDS);
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
        throw (0,engine_errors/* bug */.jr)('stat words beyond their table');
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
    statToWords(stat, options.platform, stat_words_scratch, 0, entryMode);
    const differs = (word) => words[at + word] !== stat_words_scratch[word];
    const full = stat_words_scratch[STAT.size] === 0 && stat.size !== 0n && words[at + STAT.size] === FULL_GIBIBYTES;
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/marked-entries.js
/**
 * Entries of the old index that somebody marked: assume-valid (`git update-index --assume-unchanged`), skip-worktree and
 * intent-to-add (`git add -N`). A forced checkout treats them as git's one-way merge does:
 *
 * - An entry that stays as it is keeps its marks. A skip-worktree file is not even looked at; an intent-to-add entry
 *   counts as changed, so its file is written.
 * - An entry that changes keeps skip-worktree alone.
 * - A file marked assume-valid or skip-worktree whose entry changes or goes must be as the index has it. If it is not,
 *   git refuses the checkout even with --force, and so do we, before anything is touched.
 */








/** A file is read in pieces of this size to be hashed: enough that system calls do not count. */
const READ_BYTES = 1 << 16;
/** Whether the old entry has any mark. The flag that says that there are further flags is none. */
function isMarked(index, old) {
    return ((index.flags[old] ?? 0) & FLAG.assumeValid) !== 0 || index.extendedFlags[old] !== 0;
}
/** Whether the old entry's file is not to be in the working tree. */
function marked_entries_isSkipped(index, old) {
    return ((index.extendedFlags[old] ?? 0) & index_table_EXTENDED_FLAG.skipWorktree) !== 0;
}
/**
 * Takes the marks of the old entry over to the new one, as far as git does.
 * @param same whether both have the same mode and id
 * @returns whether the file on disk decides if the entry is written
 */
function carryMarks(tables, entry, index, old, same) {
    const more = index.extendedFlags[old] ?? 0;
    if (!same) {
        tables.extendedFlags[entry] = more & index_table_EXTENDED_FLAG.skipWorktree;
        return false;
    }
    tables.flags[entry] = (index.flags[old] ?? 0) & FLAG.assumeValid;
    tables.extendedFlags[entry] = more;
    return more === 0;
}
/**
 * Keeps an entry whose file is not looked at, with its stat data. The file may have been changed in the second of the
 * old index, which the new one, being younger, would no longer tell; so what differs gets size 0, as git's index does.
 * @returns State.KEPT
 */
function keepUnseen(tables, entry, index, old, paths, statComparison) {
    const from = old * tables_STAT_WORDS;
    const to = entry * tables_STAT_WORDS;
    tables.stats.set(index.stats.subarray(from, from + tables_STAT_WORDS), to);
    if (isRacy(index.stats, from, index.mtimeSeconds)) {
        const path = absolutePath(index, old, paths);
        const stat = lstatOrError(path);
        if (!isErrno(stat) && matches(index, old, stat, statComparison) && !hasContent(index, old, path, stat)) {
            tables.stats[to + STAT.size] = 0;
        }
    }
    return tables_State.KEPT;
}
/**
 * Refuses to change or remove a file marked assume-valid or skip-worktree that is not as the index has it. One that is
 * gone may be written, or stay away.
 * @throws CheckoutError local-changes
 */
function refuseLocalChanges(index, old, paths, statComparison) {
    const mayBeOverwritten = ((index.flags[old] ?? 0) & FLAG.assumeValid) === 0 && !marked_entries_isSkipped(index, old);
    if (mayBeOverwritten)
        return;
    const path = absolutePath(index, old, paths);
    const stat = lstatOrError(path);
    if (stat === 'ENOENT')
        return;
    if (!isErrno(stat)) {
        if (index.modes[old] === tree_MODE_GITLINK)
            return;
        const same = matches(index, old, stat, statComparison);
        const racy = isRacy(index.stats, old * tables_STAT_WORDS, index.mtimeSeconds);
        if (same && (!racy || hasContent(index, old, path, stat)))
            return;
    }
    const name = displayPath(index.pathBytes, index.pathOffsets[old] ?? 0, index.pathOffsets[old + 1] ?? 0);
    const mark = marked_entries_isSkipped(index, old) ? 'skip-worktree' : 'assume-unchanged';
    throw new engine_errors/* CheckoutError */.vd('local-changes', `'${name}' is marked ${mark} in the index and has local changes that the checkout would overwrite; ` +
        `git update-index --no-${mark} takes the mark away`, { path: name });
}
function absolutePath(index, old, paths) {
    return paths.absolute(index.pathBytes, index.pathOffsets[old] ?? 0, index.pathOffsets[old + 1] ?? 0);
}
function lstatOrError(path) {
    try {
        return (0,external_node_fs_.lstatSync)(path, { bigint: true, throwIfNoEntry: false }) ?? 'ENOENT';
    }
    catch (error) {
        return (0,engine_errors/* errnoOf */.UQ)(error) ?? 'UNKNOWN';
    }
}
function isErrno(stat) {
    return typeof stat === 'string';
}
function matches(index, old, stat, statComparison) {
    const emptyBlob = isEmptyBlob(index.oids, old * index.format.oidBytes, index.format);
    return matchStat(index.stats, old * tables_STAT_WORDS, stat, statComparison, emptyBlob) === 'same';
}
/**
 * Whether a file or link has the entry's id as it is. Where git would convert a file first this is false, which is the
 * safe side: it is called for marked entries of the index's own second only.
 */
function hasContent(index, old, path, stat) {
    const { name, oidBytes } = index.format;
    const hash = (0,external_node_crypto_.createHash)(name).update(`blob ${stat.size}\0`);
    try {
        if (index.modes[old] === tree_MODE_SYMLINK) {
            hash.update((0,external_node_fs_.readlinkSync)(path, { encoding: 'buffer' }));
        }
        else {
            // Should it have become a pipe meanwhile, opening it must not wait. Windows has no such flag.
            const descriptor = (0,external_node_fs_.openSync)(path, external_node_fs_.constants.O_RDONLY | external_node_fs_.constants.O_NONBLOCK);
            try {
                const piece = Buffer.allocUnsafe(READ_BYTES);
                for (let got = 1; got > 0;) {
                    got = (0,external_node_fs_.readSync)(descriptor, piece, 0, piece.length, null);
                    hash.update(piece.subarray(0, got));
                }
            }
            finally {
                (0,external_node_fs_.closeSync)(descriptor);
            }
        }
    }
    catch {
        // Cannot be read: then nobody can say that it is the same.
        return false;
    }
    return hash.digest().equals(index.oids.subarray(old * oidBytes, (old + 1) * oidBytes));
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/sparse-update.js
/**
 * What a sparse checkout makes of the old index: which of its skip-worktree bits still count, and what becomes of entries
 * that are left out now. As git's forced checkout: a file that leaves goes, whatever is in it.
 */





const sparse_update_SLASH = 0x2f;
/** The index without the skip-worktree bit on entries whose path is on disk: git drops it whenever it reads the index. */
function withoutPresent(index, paths) {
    const presence = new PathPresence(paths);
    let extendedFlags = index.extendedFlags;
    for (let entry = 0; entry < index.count; entry++) {
        if (!marked_entries_isSkipped(index, entry))
            continue;
        if (!presence.has(index.pathBytes, index.pathOffsets[entry] ?? 0, index.pathOffsets[entry + 1] ?? 0))
            continue;
        if (extendedFlags === index.extendedFlags)
            extendedFlags = extendedFlags.slice();
        extendedFlags[entry] = (extendedFlags[entry] ?? 0) & ~index_table_EXTENDED_FLAG.skipWorktree;
    }
    return extendedFlags === index.extendedFlags ? index : { ...index, extendedFlags };
}
/** Whether an entry is on disk by the patterns; for single ones, as those of the old index that the new tree does not have. */
function isInside(matcher, { pathBytes, pathOffsets }, entry) {
    const path = pathBytes.subarray(pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0);
    let verdict = matcher.root;
    let name = 0;
    for (let slash = path.indexOf(sparse_update_SLASH); slash >= 0; slash = path.indexOf(sparse_update_SLASH, name)) {
        if (verdict === ALL || verdict === NONE)
            break;
        verdict = matcher.directory(path, name, slash, verdict);
        name = slash + 1;
    }
    if (verdict === ALL || verdict === NONE)
        return verdict === ALL;
    return matcher.includes(path, 0, name, path.length, false, verdict);
}
/** Marks a new entry that is left out. */
function leaveOut(tables, entry) {
    tables.extendedFlags[entry] = index_table_EXTENDED_FLAG.skipWorktree;
}
/**
 * The same for one that the old index has with the same mode and id: it keeps its other marks, and the stat data that its
 * file had last.
 */
function leaveOutAsBefore(tables, entry, index, old) {
    tables.flags[entry] = (index.flags[old] ?? 0) & FLAG.assumeValid;
    tables.extendedFlags[entry] = (index.extendedFlags[old] ?? 0) | index_table_EXTENDED_FLAG.skipWorktree;
    tables.stats.set(index.stats.subarray(old * tables_STAT_WORDS, (old + 1) * tables_STAT_WORDS), entry * tables_STAT_WORDS);
}
/** Takes the mark off an entry that is not left out, or no longer. */
function bringIn(tables, entry) {
    tables.extendedFlags[entry] = (tables.extendedFlags[entry] ?? 0) & ~index_table_EXTENDED_FLAG.skipWorktree;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/compare.js
/**
 * Holds the manifest against the index and the working tree: what can stay, what must be written, what must go. These are the rules
 * of a forced checkout (git's one-way merge with reset): a tracked file stays when the index has it with the same id and
 * mode and its stat data have not changed; everything else is written anew.
 */








const compare_SLASH = 0x2f;
/**
 * All is to be written: there is no index, so nothing on disk is known.
 * @param symlinks core.symlinks; where it is off, links are written as files
 */
function compareWithNothing(tables, symlinks) {
    let toWrite = 0;
    for (let i = 0; i < tables.count; i++) {
        startEntry(tables, i, symlinks);
        if (tables.states[i] === tables_State.PENDING)
            toWrite++;
    }
    const none = new Uint32Array(0);
    return { removals: none, vanished: none, vanishedLengths: none, kept: 0, toWrite, needsGit: [] };
}
/** Sets the state of an entry that the index does not have. The manifest has marked those outside of a sparse checkout. */
function startEntry(tables, entry, symlinks) {
    if (tables.states[entry] === tables_State.SKIPPED)
        leaveOut(tables, entry);
    else
        tables.states[entry] = initialState(tables, entry, symlinks);
}
/**
 * @param symlinks core.symlinks
 * @param pending the state of a file
 */
function initialState(tables, entry, symlinks, pending = tables_State.PENDING) {
    const mode = tables.modes[entry];
    return (mode === tree_MODE_SYMLINK && symlinks) || mode === tree_MODE_GITLINK ? tables_State.LATER : pending;
}
/**
 * Sets the state of each entry, and for those that stay their stat data, from the old index and the files on disk.
 * @param sparse null where core.sparseCheckout is off; skip-worktree is a mark like others then
 */
function compareWithIndex(tables, oldIndex, paths, statComparison, sparse) {
    const index = sparse === null || sparse.expectOutside ? oldIndex : withoutPresent(oldIndex, paths);
    const matcher = sparse?.matcher ?? null;
    const removals = [];
    const needsGit = new Set();
    const vanished = new Vanished(tables, index);
    const removed = (entry) => {
        vanished.add(entry, removals[removals.length - 1]);
        removals.push(entry);
    };
    let kept = 0;
    let toWrite = 0;
    let old = 0;
    let entry = 0;
    while (entry < tables.count || old < index.count) {
        const order = entry >= tables.count ? 1 : old >= index.count ? -1 : compare_comparePaths(tables, entry, index, old);
        if (order > 0) {
            const leftOut = matcher !== null && isMarked(index, old) && !isInside(matcher, index, old);
            // Unmerged paths have several entries; one removal is enough. What is left out before and after is not ours.
            const previous = removals[removals.length - 1];
            const again = previous !== undefined && samePath(index, previous, old);
            if (!again && !(leftOut && marked_entries_isSkipped(index, old)))
                removed(old);
            if (isMarked(index, old) && !(leftOut && marked_entries_isSkipped(index, old))) {
                refuseLocalChanges(index, old, paths, statComparison);
            }
            old++;
            continue;
        }
        if (order < 0) {
            startEntry(tables, entry, statComparison.symlinks);
            if (tables.states[entry] === tables_State.PENDING)
                toWrite++;
            entry++;
            continue;
        }
        const same = sameInIndex(tables, entry, index, old);
        if (tables.states[entry] === tables_State.SKIPPED) {
            if (isUnmerged(index, old))
                needsGit.add('an unmerged path lies outside of the sparse checkout');
            if (!marked_entries_isSkipped(index, old)) {
                if (!same && isMarked(index, old))
                    refuseLocalChanges(index, old, paths, statComparison);
                removed(old);
                // git removes what the new entry would be there: a file's unlink leaves a submodule's directory alone.
                index.modes[old] = tables.modes[entry] ?? 0;
            }
            leaveOut(tables, entry);
            if (same)
                leaveOutAsBefore(tables, entry, index, old);
        }
        else {
            let look = same;
            if (isMarked(index, old)) {
                if (!same)
                    refuseLocalChanges(index, old, paths, statComparison);
                look = carryMarks(tables, entry, index, old, same);
                if (matcher !== null)
                    bringIn(tables, entry);
            }
            const state = look
                ? stateOnDisk(tables, entry, index, old, paths, statComparison)
                : same && marked_entries_isSkipped(index, old) && matcher === null
                    ? keepUnseen(tables, entry, index, old, paths, statComparison)
                    : initialState(tables, entry, statComparison.symlinks, tables_State.REPLACE);
            tables.states[entry] = state;
            if (state === tables_State.KEPT)
                kept++;
            else if (state !== tables_State.LATER)
                toWrite++;
        }
        entry++;
        old++;
        // Further stages of an unmerged path.
        while (old < index.count && compare_comparePaths(tables, entry - 1, index, old) === 0)
            old++;
    }
    return {
        removals: Uint32Array.from(removals),
        vanished: Uint32Array.from(vanished.entries),
        vanishedLengths: Uint32Array.from(vanished.lengths),
        kept,
        toWrite,
        needsGit: [...needsGit],
    };
}
/** Byte order of an entry's path and a path of the index. */
function compare_comparePaths(tables, entry, index, old) {
    const aStart = tables.pathOffsets[entry] ?? 0;
    const aLength = (tables.pathOffsets[entry + 1] ?? 0) - aStart;
    const bStart = index.pathOffsets[old] ?? 0;
    const bLength = (index.pathOffsets[old + 1] ?? 0) - bStart;
    const least = aLength < bLength ? aLength : bLength;
    for (let i = 0; i < least; i++) {
        const difference = (tables.pathBytes[aStart + i] ?? 0) - (index.pathBytes[bStart + i] ?? 0);
        if (difference !== 0)
            return difference;
    }
    return aLength - bLength;
}
/** Finds the directories of removed entries that the new tree does not have on disk. Entries come in the order of the index. */
class Vanished {
    entries = [];
    lengths = [];
    #tables;
    #index;
    /** The first entry of the new tree on disk that is not before the last removed one, and the one before it. */
    #next = 0;
    #before = -1;
    constructor(tables, index) {
        this.#tables = tables;
        this.#index = index;
    }
    /** @param previous the entry that was removed before this one */
    add(old, previous) {
        const tables = this.#tables;
        const index = this.#index;
        for (; this.#next < tables.count; this.#next++) {
            if (tables.states[this.#next] === tables_State.SKIPPED)
                continue;
            if (compare_comparePaths(tables, this.#next, index, old) > 0)
                break;
            this.#before = this.#next;
        }
        // Directories that the tree has would be those of its neighbours there, and some were noted with the last removal.
        let common = previous === undefined ? 0 : commonLength(index, previous, index, old);
        if (this.#next < tables.count)
            common = Math.max(common, commonLength(tables, this.#next, index, old));
        if (this.#before >= 0)
            common = Math.max(common, commonLength(tables, this.#before, index, old));
        const start = index.pathOffsets[old] ?? 0;
        const length = (index.pathOffsets[old + 1] ?? 0) - start;
        for (let i = common; i < length; i++) {
            if (index.pathBytes[start + i] !== compare_SLASH)
                continue;
            this.entries.push(old);
            this.lengths.push(i);
        }
    }
}
/** How many bytes two paths begin with in common. */
function commonLength(a, i, b, j) {
    const aStart = a.pathOffsets[i] ?? 0;
    const bStart = b.pathOffsets[j] ?? 0;
    const least = Math.min((a.pathOffsets[i + 1] ?? 0) - aStart, (b.pathOffsets[j + 1] ?? 0) - bStart);
    let common = 0;
    while (common < least && a.pathBytes[aStart + common] === b.pathBytes[bStart + common])
        common++;
    return common;
}
function samePath(index, a, b) {
    const aStart = index.pathOffsets[a] ?? 0;
    const bStart = index.pathOffsets[b] ?? 0;
    const length = (index.pathOffsets[a + 1] ?? 0) - aStart;
    if ((index.pathOffsets[b + 1] ?? 0) - bStart !== length)
        return false;
    for (let i = 0; i < length; i++)
        if (index.pathBytes[aStart + i] !== index.pathBytes[bStart + i])
            return false;
    return true;
}
function isUnmerged(index, old) {
    return ((index.flags[old] ?? 0) & FLAG.stage) !== 0;
}
/** Whether the index has the entry merged, with the same id and mode. */
function sameInIndex(tables, entry, index, old) {
    const { oidBytes } = tables.format;
    return (!isUnmerged(index, old) &&
        index.modes[old] === tables.modes[entry] &&
        oidEquals(tables.oids, entry * oidBytes, index.oids, old * oidBytes, oidBytes));
}
function stateOnDisk(tables, entry, index, old, paths, statComparison) {
    const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    const stat = lstatOrNothing(path);
    const oldAt = old * tables_STAT_WORDS;
    const emptyBlob = index.stats[oldAt + STAT.size] === 0 && isEmptyBlob(index.oids, old * index.format.oidBytes, index.format);
    if (stat === undefined)
        return initialState(tables, entry, statComparison.symlinks);
    if (matchStat(index.stats, oldAt, stat, statComparison, emptyBlob) === 'changed') {
        return initialState(tables, entry, statComparison.symlinks, tables_State.REPLACE);
    }
    // Not `set` of a `subarray`: ten words cost less than an object, a million times.
    for (let word = 0, at = entry * tables_STAT_WORDS; word < tables_STAT_WORDS; word++)
        tables.stats[at++] = index.stats[oldAt + word];
    if (!isRacy(index.stats, oldAt, index.mtimeSeconds))
        return tables_State.KEPT;
    // Links are compared by the main thread, which makes them.
    return tables.modes[entry] === tree_MODE_SYMLINK && statComparison.symlinks ? tables_State.LATER : tables_State.VERIFY;
}
/** lstat without an exception for what is not there; a file where a directory should be counts as nothing, too. */
function lstatOrNothing(path) {
    try {
        return (0,external_node_fs_.lstatSync)(path, { bigint: true, throwIfNoEntry: false });
    }
    catch {
        // ENOTDIR, ELOOP, EACCES: whatever it is, it is not the file that the index knows.
        return undefined;
    }
}

;// CONCATENATED MODULE: external "node:child_process"
const external_node_child_process_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:child_process");
;// CONCATENATED MODULE: external "node:string_decoder"
const external_node_string_decoder_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:string_decoder");
;// CONCATENATED MODULE: ./build/js/engine/gitdir/git-executable.js
/**
 * Which git to start. On Windows a bare `git` is looked up in the child's current directory first, and that directory
 * is the repository being checked out: a `git.exe` committed there would run. So on Windows the file is looked up here,
 * in PATH alone, and started by its full path. Elsewhere the kernel's lookup knows PATH only.
 */


/** Whether `path` is a file. A folder of PATH that may not be read, or is no folder, has none. */
function git_executable_isFile(path) {
    try {
        return (0,external_node_fs_.statSync)(path, { throwIfNoEntry: false })?.isFile() === true;
    }
    catch {
        return false;
    }
}
/** The value of PATH; on Windows a variable's name may be written in any case. */
function searchPath(environment, platform) {
    const name = platform === 'win32' ? Object.keys(environment).find((key) => key.toUpperCase() === 'PATH') : 'PATH';
    return (name === undefined ? undefined : environment[name]) ?? '';
}
/**
 * The full path of git, looked up in PATH as the system would, links not followed; null when PATH has none. Entries
 * that are not absolute are passed over: they would depend on the current directory.
 */
function findGit(environment, platform, exists = git_executable_isFile) {
    const path = platform === 'win32' ? external_node_path_.win32 : external_node_path_.posix;
    for (const entry of searchPath(environment, platform).split(path.delimiter)) {
        const folder = entry.replace(/^"(.*)"$/, '$1');
        if (!path.isAbsolute(folder))
            continue;
        const candidate = path.join(folder, platform === 'win32' ? 'git.exe' : 'git');
        if (exists(candidate))
            return candidate;
    }
    return null;
}
/** What to hand to spawn as the program: 'git', or on Windows its full path; null when PATH has none (Windows only). */
function gitProgram(environment, platform) {
    return platform === 'win32' ? findGit(environment, platform) : 'git';
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/git-process.js
/**
 * Runs git as a child process: no shell, output bounded, and a promise that settles whatever the child does. The last
 * point takes care: a helper that git leaves behind (the credential cache daemon) may hold the output pipes open for
 * ever, so the end of the process counts, not the end of its pipes.
 */







/** Bound of collected standard output. `git config --list` of a thousand repositories is far below; a runaway is not. */
const MAX_STDOUT_BYTES = 64 * 1024 * 1024;
/** How much of standard error is kept, from its end. */
const MAX_STDERR_BYTES = 64 * 1024;
/** After an abort git gets this long to remove its temporary and lock files before it is killed. */
const TERMINATION_GRACE_MS = 5000;
/** After the process has ended, how long its pipes may stay silent before they are given up. */
const SILENT_PIPE_MS = 300;
/** The last `limit` bytes of a stream. */
class Tail {
    chunks = [];
    length = 0;
    limit;
    constructor(limit) {
        this.limit = limit;
    }
    push(chunk) {
        this.chunks.push(chunk);
        this.length += chunk.length;
        // Whole chunks go once the rest suffices, so that the kept memory stays below twice the limit.
        while (this.chunks.length > 1 && this.length - this.chunks[0].length >= this.limit) {
            this.length -= this.chunks.shift().length;
        }
    }
    text() {
        const all = Buffer.concat(this.chunks);
        return all.subarray(Math.max(0, all.length - this.limit)).toString('utf8');
    }
}
/** Cuts a stream into lines at LF and CR (progress meters use CR); a line longer than the limit is cut there. */
class LineSplitter {
    decoder = new external_node_string_decoder_namespaceObject.StringDecoder('utf8');
    rest = '';
    emit;
    constructor(emit) {
        this.emit = emit;
    }
    push(chunk) {
        const lines = (this.rest + this.decoder.write(chunk)).split(/[\r\n]/);
        this.rest = lines.pop() ?? '';
        for (const line of lines)
            if (line !== '')
                this.emit(line);
        if (this.rest.length > MAX_STDERR_BYTES) {
            this.emit(this.rest);
            this.rest = '';
        }
    }
    end() {
        this.rest += this.decoder.end();
        if (this.rest !== '')
            this.emit(this.rest);
        this.rest = '';
    }
}
/** Why a process could not be started. ENOENT is said of a missing program and of a missing directory alike. */
function startError(error, cwd) {
    const errno = (0,engine_errors/* errnoOf */.UQ)(error);
    if (cwd !== undefined && (0,external_node_fs_.statSync)(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
        return new engine_errors/* CheckoutError */.vd('io', `cannot run git in '${cwd}': no such directory`, { path: cwd, errno: 'ENOENT' });
    }
    if (errno === 'ENOENT') {
        return new engine_errors/* CheckoutError */.vd('git-missing', 'git is not installed or not in PATH', { errno }, error);
    }
    return new engine_errors/* CheckoutError */.vd('git-missing', `cannot start git: ${errno ?? String(error)}`, errno === undefined ? {} : { errno }, error);
}
/** git's own options whose value is the next argument, from git(1); all others carry theirs behind a '='. */
const OPTIONS_WITH_VALUE = new Set([
    '-c',
    '-C',
    '--attr-source',
    '--config-env',
    '--git-dir',
    '--namespace',
    '--super-prefix',
    '--work-tree',
]);
/** The command as messages call it, 'git fetch': without git's own options before it, nor the command's after it. */
function nameOf(args) {
    let at = 0;
    while (args[at]?.startsWith('-') === true)
        at += OPTIONS_WITH_VALUE.has(args[at] ?? '') ? 2 : 1;
    const command = args[at];
    return command === undefined ? 'git' : `git ${command}`;
}
/**
 * Runs `git ARGS` and collects what it prints. Any exit status is a result, not an error.
 *
 * @throws CheckoutError 'git-missing' when git cannot be started, 'io' when `cwd` is not a directory, 'git-failed' when
 *   it prints more than MAX_STDOUT_BYTES, 'interrupted' once it has ended after `signal` was aborted
 */
function spawnGit(call) {
    return new Promise((resolve, reject) => {
        const { signal } = call;
        const what = nameOf(call.args);
        const interrupted = () => new engine_errors/* CheckoutError */.vd('interrupted', `${what} was interrupted`);
        if (signal?.aborted === true) {
            reject(interrupted());
            return;
        }
        const environment = { ...environment_processEnvironment(), ...call.env };
        const program = gitProgram(environment, process.platform);
        if (program === null) {
            reject(startError(Object.assign(new Error('not found'), { code: 'ENOENT' }), call.cwd));
            return;
        }
        let child;
        try {
            child = (0,external_node_child_process_namespaceObject.spawn)(program, call.args, {
                cwd: call.cwd,
                env: environment,
                stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
                windowsHide: true,
            });
        }
        catch (error) {
            // An argument with a NUL byte, or one that is too long, is refused before anything runs.
            reject(startError(error, call.cwd));
            return;
        }
        const { stdin } = child;
        // null where a stream is not piped, says the type; undefined when spawn fails for want of descriptors, and then
        // 'error' follows.
        const stdout = child.stdout;
        const stderr = child.stderr;
        if (stdout === null || stdout === undefined || stderr === null || stderr === undefined) {
            child.once('error', (error) => reject(startError(error, call.cwd)));
            return;
        }
        const out = [];
        let outLength = 0;
        const tail = new Tail(MAX_STDERR_BYTES);
        const lines = call.onStderrLine === undefined ? null : new LineSplitter(call.onStderrLine);
        let failure = null;
        let ended = null;
        let killTimer;
        let pipeTimer;
        let settled = false;
        // git passes SIGTERM on to the processes that it started, after removing its temporary files.
        const stop = (reason) => {
            failure ??= reason;
            child.kill('SIGTERM');
            killTimer ??= setTimeout(() => child.kill('SIGKILL'), TERMINATION_GRACE_MS);
        };
        const onAbort = () => stop(interrupted());
        const finish = (settle) => {
            if (settled)
                return;
            settled = true;
            clearTimeout(killTimer);
            clearTimeout(pipeTimer);
            signal?.removeEventListener('abort', onAbort);
            stdout.destroy();
            stderr.destroy();
            settle();
        };
        const complete = () => {
            finish(() => {
                lines?.end();
                if (failure !== null) {
                    reject(failure);
                    return;
                }
                const killedBy = ended?.signal ?? null;
                const exitCode = ended?.code ?? 128 + (killedBy === null ? 0 : external_node_os_.constants.signals[killedBy]);
                resolve({ exitCode, stdout: Buffer.concat(out), stderr: tail.text() });
            });
        };
        const waitForPipes = () => {
            if (ended === null)
                return;
            clearTimeout(pipeTimer);
            pipeTimer = setTimeout(complete, SILENT_PIPE_MS);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        stdout.on('data', (chunk) => {
            outLength += chunk.length;
            if (outLength > MAX_STDOUT_BYTES) {
                out.length = 0;
                stop(new engine_errors/* CheckoutError */.vd('git-failed', `${what} printed more than ${MAX_STDOUT_BYTES} bytes`));
            }
            else {
                out.push(chunk);
            }
            waitForPipes();
        });
        stderr.on('data', (chunk) => {
            tail.push(chunk);
            lines?.push(chunk);
            waitForPipes();
        });
        // A read error on a pipe ends its output early; the exit status still tells how git fared.
        stdout.on('error', waitForPipes);
        stderr.on('error', waitForPipes);
        child.once('error', (error) => finish(() => reject(startError(error, call.cwd))));
        child.once('exit', (code, exitSignal) => {
            ended = { code, signal: exitSignal };
            waitForPipes();
        });
        child.once('close', complete);
        if (stdin !== null) {
            // git may end without reading all of its input; its exit status says why.
            stdin.on('error', () => undefined);
            stdin.end(call.input);
        }
    });
}

;// CONCATENATED MODULE: ./build/js/engine/driver/driver-process.js
/**
 * Starts the command of a filter driver as git does, and sees to it that it ends: with the run when that is stopped, and in
 * any case when it is told to. The command comes from the configuration; nothing of the repository gets into it but a path
 * that one-shot.ts has quoted.
 */




/** git runs a command by itself when it has none of these, and otherwise by the shell. */
const NEEDS_SHELL = /[|&;<>()$`\\"' \t\n*?[#~=%]/;
/** Where every Unix has it, and git was built to look for it. */
const SHELL = '/bin/sh';
/** After it was told to end, a process gets this long, as git gets (fetch/git-process.ts). */
const driver_process_TERMINATION_GRACE_MS = 5000;
class DriverProcess {
    stdin;
    stdout;
    /** Settles when the process has ended; its pipes may still be open, for it may have left others behind. */
    ended;
    #child;
    #signal;
    #killTimer;
    constructor(child, settings) {
        this.#child = child;
        this.#signal = settings.signal;
        this.stdin = child.stdin;
        this.stdout = child.stdout;
        // A driver may end, or stop reading, before it has read all; what that means is for its exit status to say.
        child.stdin.on('error', () => undefined);
        const lines = new LineSplitter(settings.warn);
        child.stderr.on('data', (chunk) => lines.push(chunk));
        child.stderr.on('error', () => undefined);
        child.stderr.once('close', () => lines.end());
        this.ended = new Promise((resolve) => {
            child.once('exit', (code, killedBy) => {
                clearTimeout(this.#killTimer);
                this.#signal?.removeEventListener('abort', this.#onAbort);
                resolve(code ?? 128 + (killedBy === null ? 0 : external_node_os_.constants.signals[killedBy]));
            });
        });
        settings.signal?.addEventListener('abort', this.#onAbort, { once: true });
    }
    /**
     * Starts a command.
     * @returns null when it cannot be started; why was told as a warning
     * @throws CheckoutError interrupted when the run is stopped already
     */
    static async start(command, settings) {
        const env = await settings.environment();
        throwIfStopped(settings);
        const [program, args] = NEEDS_SHELL.test(command) ? [SHELL, ['-c', command]] : [command, []];
        const cannot = (error) => {
            settings.warn(`cannot run the filter command '${command}': ${(0,engine_errors/* errnoOf */.UQ)(error) ?? String(error)}`);
            return null;
        };
        let child;
        try {
            child = (0,external_node_child_process_namespaceObject.spawn)(program, args, { cwd: settings.workTree, env, stdio: ['pipe', 'pipe', 'pipe'] });
        }
        catch (error) {
            return cannot(error);
        }
        const failure = await new Promise((resolve) => {
            child.once('spawn', () => resolve(null));
            child.once('error', resolve);
        });
        if (failure !== null)
            return cannot(failure);
        child.on('error', () => undefined);
        return new DriverProcess(child, settings);
    }
    /** Asks the process to end, and makes it end when it does not. */
    kill() {
        this.#child.kill('SIGTERM');
        this.#killTimer ??= setTimeout(() => this.#child.kill('SIGKILL'), driver_process_TERMINATION_GRACE_MS);
    }
    /** Lets go of the pipes, which processes that it left behind may hold open. */
    closePipes() {
        this.#child.stdin.destroy();
        this.#child.stdout.destroy();
        this.#child.stderr.destroy();
    }
    #onAbort = () => {
        this.kill();
        // Whoever waits for output is told that there is no more.
        this.closePipes();
    };
}
/** @throws CheckoutError interrupted */
function throwIfStopped({ signal }) {
    if (signal?.aborted === true)
        throw new engine_errors/* CheckoutError */.vd('interrupted', 'interrupted while a filter driver ran');
}

;// CONCATENATED MODULE: ./build/js/engine/driver/packet-line.js

/** Longest content of a packet: 65,520 with its length. */
const MAX_PACKET_DATA = 65_516;
const LENGTH_BYTES = 4;
/** Received bytes from which on the sender has to wait. */
const ENOUGH_BYTES = 256 * 1024;
/** The other side does not speak packet lines. git gives up on everything then. */
class PacketError extends Error {
}
function flushPacket() {
    return Buffer.from('0000', 'latin1');
}
/** A packet of text, which ends in a line feed. */
function textPacket(key, value) {
    const text = Buffer.concat([Buffer.from(key, 'latin1'), value, Buffer.from('\n', 'latin1')]);
    return Buffer.concat([header(text.length), text]);
}
function header(length) {
    return Buffer.from((length + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0'), 'latin1');
}
/** Writes packets; waits where the pipe is full. */
class PacketWriter {
    #stream;
    #failed = false;
    constructor(stream) {
        this.#stream = stream;
        const fail = () => {
            this.#failed = true;
            this.#wake?.();
        };
        stream.once('error', fail);
        stream.once('close', fail);
        stream.on('drain', () => this.#wake?.());
    }
    #wake = null;
    /** Writes packets that are complete. @returns false when the other side has closed the pipe */
    async write(...packets) {
        return await this.#send(Buffer.concat(packets));
    }
    /** Writes content in packets and a flush packet after it. */
    async writeContent(content) {
        for (let at = 0; at < content.length; at += MAX_PACKET_DATA) {
            const end = Math.min(content.length, at + MAX_PACKET_DATA);
            if (!(await this.#send(header(end - at), bufferOver(content, at, end))))
                return false;
        }
        return await this.#send(flushPacket());
    }
    async #send(...chunks) {
        let room = true;
        for (const chunk of chunks) {
            if (this.#failed)
                return false;
            room = this.#stream.write(chunk);
        }
        if (!room && !this.#failed) {
            await new Promise((resolve) => {
                this.#wake = resolve;
            });
            this.#wake = null;
        }
        return !this.#failed;
    }
}
/** Reads packets. */
class PacketReader {
    #stream;
    #chunks = [];
    #length = 0;
    #ended = false;
    #wake = null;
    constructor(stream) {
        this.#stream = stream;
        const end = () => {
            this.#ended = true;
            this.#wake?.();
        };
        stream.on('data', (chunk) => {
            this.#chunks.push(chunk);
            this.#length += chunk.length;
            if (this.#length >= ENOUGH_BYTES)
                stream.pause();
            this.#wake?.();
        });
        stream.once('end', end);
        stream.once('error', end);
        stream.once('close', end);
    }
    /**
     * The content of the next packet, valid for ever; null for a flush packet or another one without content, as git takes
     * them; undefined when the other side has closed the pipe.
     * @throws PacketError
     */
    async read() {
        const digits = await this.#take(LENGTH_BYTES);
        if (digits === undefined)
            return undefined;
        const text = digits.toString('latin1');
        const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : -1;
        // 0: flush, 1: delimiter, 2: end of a response.
        if (length >= 0 && length <= 2)
            return null;
        if (length < LENGTH_BYTES || length > MAX_PACKET_DATA + LENGTH_BYTES) {
            throw new PacketError(`a packet begins with ${JSON.stringify(text)}`);
        }
        if (length === LENGTH_BYTES)
            return null;
        return await this.#take(length - LENGTH_BYTES);
    }
    /** The next packet as a line, a byte string without its line feed; null and undefined as above. */
    async readLine() {
        const packet = await this.read();
        if (packet === null || packet === undefined)
            return packet;
        const line = packet.toString('latin1');
        // To git it is a string, which a NUL ends.
        const [text = ''] = (line.endsWith('\n') ? line.slice(0, -1) : line).split('\0', 1);
        return line === '\n' ? null : text;
    }
    async #take(wanted) {
        while (this.#length < wanted) {
            if (this.#ended)
                return undefined;
            if (this.#stream.isPaused())
                this.#stream.resume();
            await new Promise((resolve) => {
                this.#wake = resolve;
            });
            this.#wake = null;
        }
        const [first] = this.#chunks;
        const all = first !== undefined && first.length >= wanted ? first : Buffer.concat(this.#chunks);
        if (all === first)
            this.#chunks.shift();
        else
            this.#chunks = [];
        if (all.length > wanted)
            this.#chunks.unshift(all.subarray(wanted));
        this.#length -= wanted;
        return all.subarray(0, wanted);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/driver/long-running.js




/** What git offers, in its order. */
const CAPABILITIES = ['clean', 'smudge', 'delay'];
/** A process that is closed gets this long to finish its work; git would wait for ever. */
const CLOSING_MS = 60_000;
class LongRunningDriver {
    capabilities;
    #process;
    #writer;
    #reader;
    #settings;
    #command;
    constructor(command, process, writer, reader, capabilities, settings) {
        this.#command = command;
        this.#process = process;
        this.#writer = writer;
        this.#reader = reader;
        this.capabilities = capabilities;
        this.#settings = settings;
    }
    /**
     * Starts the command and agrees on the protocol.
     * @returns null when it does not start or does not speak the protocol; why was told as a warning
     * @throws CheckoutError filter-failed where git dies: it ends in the middle, sends no packets, or wants what git does
     * not have; interrupted
     */
    static async start(command, settings) {
        const started = await DriverProcess.start(command, settings);
        if (started === null)
            return null;
        const writer = new PacketWriter(started.stdin);
        const reader = new PacketReader(started.stdout);
        const driver = (capabilities) => new LongRunningDriver(command, started, writer, reader, capabilities, settings);
        try {
            const capabilities = await handshake(command, writer, reader, settings);
            if (capabilities !== null)
                return driver(capabilities);
        }
        catch (error) {
            await driver(new Set()).stop();
            throw died(command, error);
        }
        await driver(new Set()).stop();
        return null;
    }
    /**
     * Has a file filtered.
     * @throws CheckoutError filter-failed where git dies; interrupted; what `push` throws, and the process is of no use then
     */
    async smudge(request, push) {
        if (request.path.length > MAX_PACKET_DATA - 'pathname=\n'.length)
            return 'broken';
        const packets = [
            textPacket('command=smudge', long_running_NOTHING),
            textPacket('pathname=', request.path),
            ...(request.ref === null ? [] : [textPacket('ref=', Buffer.from(request.ref, 'utf8'))]),
            ...(request.treeish === null ? [] : [textPacket('treeish=', Buffer.from(request.treeish, 'latin1'))]),
            ...(request.blob === null ? [] : [textPacket('blob=', Buffer.from(request.blob, 'latin1'))]),
            ...(request.canDelay ? [textPacket('can-delay=1', long_running_NOTHING)] : []),
            flushPacket(),
        ];
        return await this.#guarded(async () => {
            if (!(await this.#writer.write(...packets)))
                return 'broken';
            if (!(await this.#writer.writeContent(request.content)))
                return 'broken';
            const before = await this.#status('');
            if (before === 'delayed' && request.canDelay)
                return 'delayed';
            if (before !== 'success')
                return answerOf(before);
            for (;;) {
                const piece = await this.#reader.read();
                if (piece === undefined)
                    return 'broken';
                if (piece === null)
                    break;
                push(piece);
            }
            const after = await this.#status('success');
            return after === 'success' ? 'filtered' : answerOf(after);
        });
    }
    /**
     * Asks which delayed paths are done; the driver answers when there are some, or with none when there will be none.
     * @throws as `smudge`
     */
    async availableBlobs(isWanted) {
        const paths = new Set();
        let unknown = null;
        const answer = await this.#guarded(async () => {
            if (!(await this.#writer.write(textPacket('command=list_available_blobs', long_running_NOTHING), flushPacket())))
                return 'broken';
            for (;;) {
                const line = await this.#reader.readLine();
                if (line === undefined)
                    throw new PacketError('it ended in a list of paths');
                if (line === null)
                    break;
                if (!line.startsWith('pathname='))
                    continue;
                const path = line.slice('pathname='.length);
                if (isWanted(path))
                    paths.add(path);
                else
                    unknown ??= displayBytes(Buffer.from(path, 'latin1'));
            }
            const status = await this.#status('');
            if (status === 'success')
                return 'listed';
            return status === 'error' ? 'error' : 'broken';
        });
        return { answer, paths, unknown };
    }
    /** Ends a process that is of no more use. */
    async stop() {
        this.#process.kill();
        this.#process.closePipes();
        await this.#process.ended;
    }
    /** Closes the pipes, by which the process is told that all is done, and waits until it has ended. */
    async close() {
        this.#process.stdin.end();
        this.#process.stdout.destroy();
        const timer = setTimeout(() => {
            this.#settings.warn(`the filter command '${this.#command}' does not end by itself and is stopped`);
            this.#process.kill();
        }, CLOSING_MS);
        await this.#process.ended;
        clearTimeout(timer);
        this.#process.closePipes();
    }
    /** The last status of a list, or `unchanged` when it has none; null when the pipe was closed. */
    async #status(unchanged) {
        let status = unchanged;
        for (;;) {
            const line = await this.#reader.readLine();
            if (line === undefined)
                return null;
            if (line === null)
                return status;
            if (line.startsWith('status='))
                status = line.slice('status='.length);
        }
    }
    async #guarded(exchange) {
        try {
            const result = await exchange();
            throwIfStopped(this.#settings);
            return result;
        }
        catch (error) {
            throwIfStopped(this.#settings);
            throw died(this.#command, error);
        }
    }
}
const long_running_NOTHING = new Uint8Array(0);
function answerOf(status) {
    return status === 'error' || status === 'abort' ? status : 'broken';
}
/** What git dies of, as an error of ours; all others as they are. */
function died(command, error) {
    if (!(error instanceof PacketError))
        return error;
    return new engine_errors/* CheckoutError */.vd('filter-failed', `the filter command '${command}' broke the protocol: ${error.message}`);
}
/** What the driver can do; null when it says nothing that makes sense. */
async function handshake(command, writer, reader, settings) {
    const next = async () => {
        const line = await reader.readLine();
        throwIfStopped(settings);
        if (line === undefined)
            throw new PacketError('it ended before it had introduced itself');
        return line;
    };
    const unexpected = (line, expected) => {
        const said = line === null ? 'nothing' : `'${displayBytes(Buffer.from(line.slice(0, 200), 'latin1'))}'`;
        settings.warn(`the filter command '${command}' says ${said} instead of ${expected}`);
        return null;
    };
    const sent = await writer.write(textPacket('git-filter-client', long_running_NOTHING), textPacket('version=2', long_running_NOTHING), flushPacket());
    if (!sent)
        return unexpected(null, "'git-filter-server'");
    const welcome = await next();
    if (welcome !== 'git-filter-server')
        return unexpected(welcome, "'git-filter-server'");
    const version = await next();
    if (version === null || !/^version=\s*[+-]?\d+$/.test(version))
        return unexpected(version, 'a version');
    const end = await next();
    if (end !== null)
        return unexpected(end, 'the end of its versions');
    if (Number(version.slice('version='.length)) !== 2)
        return unexpected(version, "'version=2'");
    const offered = CAPABILITIES.map((name) => textPacket(`capability=${name}`, long_running_NOTHING));
    if (!(await writer.write(...offered, flushPacket())))
        return unexpected(null, 'capabilities');
    const capabilities = new Set();
    for (;;) {
        const line = await next();
        if (line === null)
            return capabilities;
        if (!line.startsWith('capability='))
            continue;
        const name = line.slice('capability='.length);
        if (!CAPABILITIES.includes(name)) {
            const shown = displayBytes(Buffer.from(name.slice(0, 200), 'latin1'));
            throw new PacketError(`it wants the capability '${shown}'`);
        }
        capabilities.add(name);
    }
}

;// CONCATENATED MODULE: external "node:buffer"
const external_node_buffer_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:buffer");
;// CONCATENATED MODULE: external "node:stream/promises"
const external_node_stream_promises_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:stream/promises");
;// CONCATENATED MODULE: ./build/js/engine/driver/one-shot.js
/**
 * A filter driver that runs once for each file (gitattributes(5), filter.<name>.smudge): content in, content out, and an exit
 * status that says whether the output counts.
 */




/** Whether a command names the path: then the path becomes an argument, which must be text. */
function namesPath(command) {
    return expandCommand(command, Buffer.from('x')) !== expandCommand(command, Buffer.from('y'));
}
/** Whether a path can be part of a command line: Node passes arguments as UTF-8. */
function canNamePath(path) {
    return (0,external_node_buffer_namespaceObject.isUtf8)(path);
}
/** The command with `%f` replaced by the quoted path and `%%` by a per cent sign; any other one stays. */
function expandCommand(command, path) {
    // Within single quotes all but a single quote is literal; an exclamation mark is not, for some interactive shells.
    const quoted = `'${bufferOver(path).toString('utf8').replace(/['!]/g, "'\\$&'")}'`;
    return command.replace(/%([%f])/g, (_, what) => (what === 'f' ? quoted : '%'));
}
/**
 * Runs the command on the content.
 * @returns whether the output is the file's content; if not, what was pushed is to be discarded
 * @throws CheckoutError interrupted; what `push` throws
 */
async function smudgeOnce(command, path, content, settings, push) {
    const started = await DriverProcess.start(expandCommand(command, path), settings);
    if (started === null)
        return false;
    const failure = {};
    started.stdout.on('data', (piece) => {
        if ('error' in failure)
            return;
        try {
            push(piece);
        }
        catch (error) {
            failure.error = error;
            started.kill();
            started.closePipes();
        }
    });
    started.stdin.end(content);
    // All of the output counts, whoever of several processes in a pipeline writes the last of it.
    const complete = await (0,external_node_stream_promises_namespaceObject.finished)(started.stdout, { writable: false }).then(() => true, () => false);
    const status = await started.ended;
    started.closePipes();
    throwIfStopped(settings);
    if ('error' in failure)
        throw failure.error;
    if (complete && status === 0)
        return true;
    settings.warn(`the filter command '${command}' failed with status ${status}`);
    return false;
}

;// CONCATENATED MODULE: ./build/js/engine/driver/drivers.js


class FilterDrivers {
    #settings;
    #running = new Map();
    /** Commands that said `abort`, whose process goes on. */
    #aborted = new WeakSet();
    /** Commands that have put off a path, and the paths, as byte strings. */
    #delaying = new Set();
    #delayed = new Set();
    constructor(settings) {
        this.#settings = settings;
    }
    /**
     * Has one file filtered.
     * @throws CheckoutError filter-failed where git dies; interrupted; what `push` throws
     */
    async smudge(driver, request, push) {
        const { command } = driver;
        if (!driver.longRunning) {
            const done = await smudgeOnce(command, request.path, request.content, this.#settings, push);
            return done ? 'filtered' : 'unfiltered';
        }
        const running = this.#running.get(command) ?? (await this.#start(command));
        if (running === null)
            return 'unfiltered';
        if (!running.capabilities.has('smudge') || this.#aborted.has(running))
            return 'unfiltered';
        const canDelay = request.canDelay && running.capabilities.has('delay');
        let answer;
        try {
            answer = await running.smudge({ ...request, canDelay }, push);
        }
        catch (error) {
            await this.#stop(command, running);
            throw error;
        }
        switch (answer) {
            case 'filtered':
                return answer;
            case 'delayed':
                this.#delaying.add(command);
                this.#delayed.add(drivers_keyOf(request.path));
                return answer;
            case 'error':
                return 'unfiltered';
            case 'abort':
                this.#aborted.add(running);
                return 'unfiltered';
            case 'broken':
                await this.#broken(command, running);
                return 'unfiltered';
        }
    }
    /** Paths that are still put off. */
    get delayed() {
        return this.#delayed;
    }
    /** Whether any driver may have something to say about the delayed paths. */
    get delaying() {
        return this.#delaying.size > 0;
    }
    /**
     * Asks each driver that has put off a path, once, and hands on what it has; `fetch` is called for each path, which is no
     * longer delayed then.
     * @returns what went wrong, a line each
     * @throws as `smudge`, and what `fetch` throws
     */
    async round(fetch) {
        const problems = [];
        for (const command of [...this.#delaying].sort(byBytes)) {
            const running = this.#running.get(command);
            if (running === undefined) {
                problems.push(`the filter command '${command}' ended before it had filtered all files`);
                this.#delaying.delete(command);
                continue;
            }
            let list;
            try {
                list = await running.availableBlobs((path) => this.#delayed.has(path));
            }
            catch (error) {
                await this.#stop(command, running);
                throw error;
            }
            if (list.answer !== 'listed') {
                problems.push(`the filter command '${command}' does not say which files it has filtered`);
                this.#delaying.delete(command);
                if (list.answer === 'broken')
                    await this.#broken(command, running);
                continue;
            }
            // A driver without an answer is done; one that lists what nobody waits for is not to be relied on.
            if (list.paths.size === 0 || list.unknown !== null)
                this.#delaying.delete(command);
            if (list.unknown !== null) {
                problems.push(`the filter command '${command}' announced '${list.unknown}', which it had not put off`);
            }
            for (const path of list.paths)
                this.#delayed.delete(path);
            for (const path of [...list.paths].sort(byBytes))
                await fetch(path);
        }
        return problems;
    }
    /** Tells the processes that all is done, and waits until they have ended. */
    async close() {
        const running = [...this.#running.values()];
        this.#running.clear();
        await Promise.all(running.map((driver) => driver.close()));
    }
    async #start(command) {
        const started = await LongRunningDriver.start(command, this.#settings);
        if (started !== null)
            this.#running.set(command, started);
        return started;
    }
    async #broken(command, running) {
        this.#settings.warn(`the filter command '${command}' failed`);
        await this.#stop(command, running);
    }
    async #stop(command, running) {
        this.#running.delete(command);
        await running.stop();
    }
}
/** A path as a byte string, to be looked up by. */
function drivers_keyOf(path) {
    return Buffer.from(path).toString('latin1');
}
function byBytes(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/compare-file.js
/**
 * Compares a file of the working tree with the content that it should have.
 */



const compare_file_PIECE_BYTES = 64 << 10;
/** Windows has no O_NOFOLLOW; there a link in place of the file has been noticed by its stat data. */
const READ = external_node_fs_.constants.O_RDONLY | (external_node_fs_.constants.O_NOFOLLOW ?? 0);
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
            fd = (0,external_node_fs_.openSync)(path, READ);
        }
        catch (error) {
            if ((0,engine_errors/* errnoOf */.UQ)(error) !== undefined)
                return null;
            throw error;
        }
        try {
            const stat = (0,external_node_fs_.fstatSync)(fd);
            // A directory opens, too: it cannot be read, and an empty one may be as large as an empty file.
            if (stat.isFile())
                return new FileComparison(fd, stat.size);
        }
        catch (error) {
            (0,external_node_fs_.closeSync)(fd);
            throw error;
        }
        (0,external_node_fs_.closeSync)(fd);
        return null;
    }
    /** Takes the next piece of the content. */
    push(piece) {
        for (let at = 0; this.#same && at < piece.length;) {
            const want = Math.min(compare_file_PIECE_BYTES, piece.length - at);
            const got = (0,external_node_fs_.readSync)(this.#fd, this.#read, 0, want, this.#position);
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
        (0,external_node_fs_.closeSync)(this.#fd);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/file-sink.js
/**
 * Files whose content comes piece by piece from elsewhere and may turn out not to count: the output of a filter driver. Little is
 * held in memory; more goes into the file at once, which is emptied again if need be.
 */




const CREATE = external_node_fs_.constants.O_WRONLY | external_node_fs_.constants.O_CREAT | external_node_fs_.constants.O_EXCL;
/** Content up to this size is written at once when it is complete, so that the file appears whole. */
const HELD_BYTES = 1 << 20;
/** A new file, created exclusively as createFile does. */
class FileSink {
    #path;
    #executable;
    #held = [];
    #length = 0;
    #fd = null;
    /** Something was at the path already. */
    #collided = false;
    /** @param path absolute; copied */
    constructor(path, executable) {
        this.#path = Buffer.from(path);
        this.#executable = executable;
    }
    push(piece) {
        if (this.#collided)
            return;
        if (this.#fd === null) {
            this.#held.push(Buffer.from(piece));
            this.#length += piece.length;
            if (this.#length < HELD_BYTES)
                return;
            this.#open();
            return;
        }
        this.#write(this.#fd, piece);
    }
    discard() {
        this.#held = [];
        this.#length = 0;
        if (this.#fd === null)
            return;
        (0,external_node_fs_.ftruncateSync)(this.#fd, 0);
        this.#position = 0;
    }
    /**
     * Ends the content.
     * @returns the file's stat data, or null when something was at the path already
     * @throws the system's error; the file is gone then
     */
    finish() {
        if (this.#fd === null && !this.#collided)
            this.#open();
        const fd = this.#fd;
        if (fd === null)
            return null;
        let complete = false;
        try {
            let stat;
            try {
                stat = (0,external_node_fs_.fstatSync)(fd, { bigint: true });
            }
            finally {
                this.#fd = null;
                (0,external_node_fs_.closeSync)(fd);
            }
            complete = true;
            return stat;
        }
        finally {
            if (!complete)
                (0,external_node_fs_.unlinkSync)(this.#path);
        }
    }
    /** Gives up: nothing of the file stays. To be called unless `finish` was. */
    abandon() {
        this.#held = [];
        if (this.#fd === null)
            return;
        (0,external_node_fs_.closeSync)(this.#fd);
        this.#fd = null;
        (0,external_node_fs_.unlinkSync)(this.#path);
    }
    #position = 0;
    #open() {
        try {
            this.#fd = (0,external_node_fs_.openSync)(this.#path, CREATE, this.#executable ? 0o777 : 0o666);
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
            if (errno !== 'EEXIST' && errno !== 'EISDIR')
                throw error;
            this.#collided = true;
            this.#held = [];
            return;
        }
        const held = this.#held;
        this.#held = [];
        try {
            for (const piece of held)
                this.#write(this.#fd, piece);
        }
        catch (error) {
            this.abandon();
            throw error;
        }
    }
    #write(fd, piece) {
        for (let at = 0; at < piece.length;) {
            const written = (0,external_node_fs_.writeSync)(fd, piece, at, Math.min(piece.length - at, MOST_AT_ONCE), this.#position);
            at += written;
            this.#position += written;
        }
    }
}
/** A file that is there, held against the content. */
class ComparisonSink {
    #path;
    #comparison;
    /** @param path absolute; copied */
    constructor(path) {
        this.#path = Buffer.from(path);
        this.#comparison = FileComparison.open(this.#path);
    }
    push(piece) {
        this.#comparison?.push(piece);
    }
    discard() {
        this.#comparison?.close();
        this.#comparison = FileComparison.open(this.#path);
    }
    /** Ends the content; returns whether the file has exactly this. */
    finish() {
        const same = this.#comparison?.isSame() ?? false;
        this.abandon();
        return same;
    }
    abandon() {
        this.#comparison?.close();
        this.#comparison = null;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/filter-pass.js
/**
 * Writes the entries that go through filter drivers: in the main thread, in index order, one after the other, while the workers
 * write the others; and what a driver has put off at the very end. See docs/decisions/filter-drivers.md.
 */










/** How long to wait before memory that other threads hold is asked for again. */
const MEMORY_WAIT_MS = 10;
/**
 * Opens entries for this pass: those whose conversion ends in a driver. Returns how many there are.
 * @param withLfs whether workers try the files of Git LFS first, and leave to this pass what is not in the local store
 */
function openFilterEntries(tables, conversions, withLfs) {
    if (!conversions.some(({ kind }) => kind === 'filter'))
        return 0;
    let count = 0;
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        if (!isForWorkers(state))
            continue;
        if (!goesThroughDriver(conversions[tables.conversions[entry] ?? 0], withLfs))
            continue;
        tables.states[entry] = state === tables_State.VERIFY ? tables_State.FILTER_VERIFY : tables_State.FILTER;
        count++;
    }
    return count;
}
function goesThroughDriver(conversion, withLfs) {
    return conversion?.driver !== undefined && !(withLfs && conversion.driver.lfs !== undefined);
}
/** Why a path needs git: it cannot be handed to the command that wants it in its command line. Null when none does. */
function pathReason(tables, conversions) {
    const named = conversions.map(({ driver }) => driver?.longRunning === false && namesPath(driver.command));
    if (!named.includes(true))
        return null;
    for (let entry = 0; entry < tables.count; entry++) {
        if (named[tables.conversions[entry] ?? 0] !== true)
            continue;
        const path = tables.pathBytes.slice(tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        if (!canNamePath(path))
            return 'a path that is not UTF-8 goes into the command of a filter driver';
    }
    return null;
}
class FilterPass {
    #facts;
    #paths;
    /** Entries of paths that were put off, by path. */
    #delayed = new Map();
    constructor(facts) {
        this.#facts = facts;
        this.#paths = new WorktreePaths(facts.workTree);
    }
    /** Makes room for all entries, before anything else is written. */
    clearWay() {
        const { tables, directories, clear } = this.#facts;
        for (let entry = 0; entry < tables.count; entry++) {
            const state = tables.states[entry];
            if (state !== tables_State.FILTER && state !== tables_State.FILTER_VERIFY)
                continue;
            const existed = directories.ensure(tables.directories[entry] ?? 0);
            if (existed && state === tables_State.FILTER)
                clear(entry);
        }
    }
    /**
     * Writes all entries that are open for it; those that a driver puts off stay open.
     * @throws CheckoutError filter-failed where git dies, and interrupted
     */
    async run() {
        const { tables } = this.#facts;
        for (let entry = 0; entry < tables.count; entry++) {
            const state = tables.states[entry];
            if (state !== tables_State.FILTER && state !== tables_State.FILTER_VERIFY)
                continue;
            await this.#write(entry, state === tables_State.FILTER_VERIFY ? 'compare' : 'first');
        }
    }
    /** Writes an entry that collided with something, once all others are there. Its way was cleared. */
    async writeCollided(entry) {
        this.#facts.tables.states[entry] = tables_State.FILTER;
        await this.#write(entry, 'collided');
    }
    /** Whether an entry is one of this pass, whatever its state. */
    isFiltered(entry) {
        const { tables, conversions, withLfs } = this.#facts;
        return goesThroughDriver(conversions[tables.conversions[entry] ?? 0], withLfs);
    }
    /**
     * Fetches what was put off.
     * @returns what went wrong beside single entries, a line each
     * @throws as `run`
     */
    async finishDelayed() {
        const { drivers, writer } = this.#facts;
        const problems = [];
        while (drivers.delaying) {
            const more = await drivers.round(async (path) => {
                const entry = this.#delayed.get(path);
                if (entry === undefined)
                    return;
                this.#delayed.delete(path);
                await this.#write(entry, 'delayed');
            });
            problems.push(...more);
        }
        for (const entry of this.#delayed.values()) {
            writer.fail(entry, new engine_errors/* CheckoutError */.vd('filter-failed', 'its filter driver put it off and never delivered it'));
        }
        return problems;
    }
    async #write(entry, turn) {
        const { writer } = this.#facts;
        this.#facts.stopIfAborted();
        try {
            await this.#filter(entry, turn);
        }
        catch (error) {
            // The driver's failure, and a stop, are not the entry's alone.
            if (error instanceof Fatal)
                throw error.cause;
            writer.fail(entry, error);
        }
    }
    async #filter(entry, turn) {
        const { tables, conversions, stopIfAborted } = this.#facts;
        const driver = conversions[tables.conversions[entry] ?? 0]?.driver;
        if (driver === undefined)
            throw new Error(`entry ${entry} has no filter driver`);
        if (turn !== 'delayed')
            this.#locate(entry);
        let held = turn === 'delayed' ? NOTHING_HELD : this.#read(entry);
        while (held === null) {
            await (0,promises_namespaceObject.setTimeout)(MEMORY_WAIT_MS);
            try {
                stopIfAborted();
            }
            catch (error) {
                throw new Fatal(error);
            }
            held = this.#read(entry);
        }
        try {
            const path = tables.pathBytes.slice(tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
            if (turn === 'compare') {
                if (await this.#hasContent(entry, path, driver, held.content)) {
                    tables.states[entry] = tables_State.KEPT;
                    return;
                }
                if (!this.#facts.clear(entry))
                    return;
            }
            await this.#create(entry, path, driver, held.content, turn);
        }
        finally {
            held.release();
        }
    }
    /** Looks up where the blob is, as write-order.ts does for the workers. */
    #locate(entry) {
        const { tables, odb } = this.#facts;
        const at = entry * tables.format.oidBytes;
        if (!odb.find(tables.oids, at) && !odb.findAgain(tables.oids, at, -1, 0)) {
            throw missing(tables.oids, at, tables.format);
        }
        this.#setPlace(entry);
    }
    #setPlace(entry) {
        const { tables, odb, writer } = this.#facts;
        tables.packs[entry] = odb.pack;
        tables.offsets[entry] = odb.offset;
        writer.usePacks(odb.packs);
    }
    /** Reads the blob, from another place where it cannot be read at the first. */
    #read(entry) {
        const { tables, odb, writer } = this.#facts;
        let first = null;
        for (;;) {
            try {
                return writer.readForFilter(entry);
            }
            catch (error) {
                first ??= error;
                const at = entry * tables.format.oidBytes;
                if (!writer.isUnread(entry, error))
                    throw error;
                if (!odb.findAgain(tables.oids, at, tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0))
                    throw first;
                this.#setPlace(entry);
            }
        }
    }
    async #hasContent(entry, path, driver, content) {
        const sink = new ComparisonSink(this.#paths.absolute(path, 0, path.length));
        try {
            await this.#smudge(entry, path, driver, content, false, sink);
            return sink.finish();
        }
        finally {
            sink.abandon();
        }
    }
    async #create(entry, path, driver, content, turn) {
        const { tables, writer, directories, clear } = this.#facts;
        // A driver may have done anything to the working tree, and a path that was put off has seen all others go by.
        directories.ensureAnew(tables.directories[entry] ?? 0);
        if (turn === 'delayed' && !clear(entry))
            return;
        const canDelay = turn === 'first' || turn === 'collided';
        const sink = new FileSink(this.#paths.absolute(path, 0, path.length), tables.modes[entry] === MODE_EXECUTABLE);
        try {
            if ((await this.#smudge(entry, path, driver, content, canDelay, sink)) === 'delayed') {
                this.#delayed.set(drivers_keyOf(path), entry);
                return;
            }
            const stat = sink.finish();
            if (stat !== null)
                writer.record(entry, stat);
            else if (turn === 'first' || turn === 'compare')
                tables.states[entry] = tables_State.COLLIDED;
            else
                throw new engine_errors/* CheckoutError */.vd('io', 'something was put in its way', { errno: 'EEXIST' });
        }
        finally {
            sink.abandon();
        }
    }
    /** Has the content filtered into the sink, which then has the file's content. */
    async #smudge(entry, path, driver, content, canDelay, sink) {
        const { tables, drivers, ref, treeish, stopIfAborted } = this.#facts;
        const failure = {};
        const push = (piece) => {
            try {
                sink.push(piece);
            }
            catch (error) {
                failure.sink = error;
                throw error;
            }
        };
        let outcome;
        try {
            const blob = oidToHex(tables.oids, entry * tables.format.oidBytes, tables.format.oidBytes);
            outcome = await drivers.smudge(driver, { path, ref, treeish, blob, canDelay, content }, push);
            stopIfAborted();
        }
        catch (error) {
            // A full disk costs this entry; a driver that broke the protocol, and a stop, cost the run.
            if ('sink' in failure)
                throw failure.sink;
            throw new Fatal(error);
        }
        if (outcome === 'delayed')
            return 'delayed';
        if (outcome === 'unfiltered') {
            if (driver.required) {
                const shown = displayPath(path, 0, path.length);
                const message = `cannot write '${shown}': the required filter driver '${driver.name}' failed`;
                throw new Fatal(new engine_errors/* CheckoutError */.vd('filter-failed', message, { path: shown }));
            }
            sink.discard();
            sink.push(content);
        }
        return 'done';
    }
}
const NOTHING_HELD = { content: new Uint8Array(0), release: () => undefined };
/** Carries what ends the run past the place where an entry's own failures are caught. */
class Fatal extends Error {
    constructor(cause) {
        super('ends the run', { cause });
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/odd-trees.js
/**
 * Trees as git never writes them: out of order, with a name twice, with a file and a directory of one name, with slashes in names.
 * git puts one entry after the other into its index, where each takes the place of all that it cannot stand beside: the entry
 * of the same path, those below it, and a file that has the name of one of its directories. Here the same is found by
 * sorting, after the walk, and only where the walk met such a tree.
 */





const odd_trees_SLASH = 0x2f;
const ATTRIBUTES = Buffer.from('.gitattributes');
/**
 * The manifest with the entries that are left, in index order, with directories made from their paths and conversions looked up
 * anew: which .gitattributes count is known only now.
 * @param manifest with the entries in the order of the walk; is no longer to be used
 * @param conversions null where they are looked up later
 * @param sparse which of the entries that are left are written; null for all
 */
function settleOddTrees(manifest, conversions, sparse) {
    const walked = manifest.tables;
    const order = lastingEntries(walked, walked.count);
    order.sort((a, b) => odd_trees_comparePaths(walked, a, b, odd_trees_SLASH) || a - b);
    const tables = inOrder(walked, order);
    let directories = newDirectories(1024, walked.format);
    forEachInDirectories(tables, {
        enter: (parent, entry, pathLength) => {
            if (directories.count === directories.parent.length)
                directories = growDirectories(directories);
            const number = directories.count++;
            directories.parent[number] = parent;
            directories.firstEntry[number] = entry;
            directories.pathLength[number] = pathLength;
            const start = tables.pathOffsets[entry] ?? 0;
            conversions?.enterDirectory(attributesTree(tables, entry, pathLength), tables.pathBytes.subarray(start, start + pathLength));
            return number;
        },
        entry: (entry, directory) => {
            tables.directories[entry] = directory;
            const mode = tables.modes[entry];
            if (sparse !== null && !isInside(sparse, tables, entry)) {
                tables.states[entry] = tables_State.SKIPPED;
                return;
            }
            if (mode === tree_MODE_GITLINK || mode === tree_MODE_SYMLINK)
                return;
            if (conversions === null)
                return;
            const { pathBytes, pathOffsets } = tables;
            tables.conversions[entry] = conversions.lookUp(pathBytes, pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0);
        },
        leave: (directory, end) => {
            directories.entryCount[directory] = end - (directories.firstEntry[directory] ?? 0);
            conversions?.leaveDirectory();
        },
    });
    // Whether there are trees for them is found out by repair-trees.ts.
    directories.irregular.fill(1, 0, directories.count);
    return { ...manifest, tables, directories, isOdd: false };
}
/**
 * The entries that none after them has displaced. Entries are numbered in the order in which git would put them into its index.
 * @returns their numbers, in no order that matters
 */
function lastingEntries(paths, count) {
    // With the slash before every other byte, what is below a path comes right after it.
    const sorted = new Uint32Array(count);
    for (let i = 0; i < count; i++)
        sorted[i] = i;
    sorted.sort((a, b) => odd_trees_comparePaths(paths, a, b, 0) || a - b);
    // One row for each path: its last entry, the last one below it, and the last one of those that it is below.
    const last = new Uint32Array(count);
    const lastBelow = new Int32Array(count).fill(-1);
    const lastAbove = new Int32Array(count).fill(-1);
    const open = new Uint32Array(count);
    let depth = 0;
    let rows = 0;
    const close = () => {
        const row = open[--depth] ?? 0;
        if (depth === 0)
            return;
        const above = open[depth - 1] ?? 0;
        lastBelow[above] = Math.max(lastBelow[above] ?? -1, last[row] ?? 0, lastBelow[row] ?? -1);
    };
    for (const entry of sorted) {
        if (rows > 0 && odd_trees_comparePaths(paths, last[rows - 1] ?? 0, entry, 0) === 0) {
            last[rows - 1] = entry;
            continue;
        }
        while (depth > 0 && !isBelow(paths, entry, last[open[depth - 1] ?? 0] ?? 0))
            close();
        open[depth++] = rows;
        last[rows++] = entry;
    }
    while (depth > 0)
        close();
    // From above, now that the last entry of each path is known.
    for (let row = 0; row < rows; row++) {
        while (depth > 0 && !isBelow(paths, last[row] ?? 0, last[open[depth - 1] ?? 0] ?? 0))
            depth--;
        if (depth > 0) {
            const above = open[depth - 1] ?? 0;
            lastAbove[row] = Math.max(lastAbove[above] ?? -1, last[above] ?? 0);
        }
        open[depth++] = row;
    }
    let kept = 0;
    for (let row = 0; row < rows; row++) {
        const entry = last[row] ?? 0;
        if (entry > (lastBelow[row] ?? -1) && entry > (lastAbove[row] ?? -1))
            sorted[kept++] = entry;
    }
    return sorted.subarray(0, kept);
}
/** Byte order of two paths, the slash counting as the byte `slash`. */
function odd_trees_comparePaths({ pathBytes, pathOffsets }, a, b, slash) {
    const aStart = pathOffsets[a] ?? 0;
    const bStart = pathOffsets[b] ?? 0;
    const aLength = (pathOffsets[a + 1] ?? 0) - aStart;
    const bLength = (pathOffsets[b + 1] ?? 0) - bStart;
    const least = aLength < bLength ? aLength : bLength;
    for (let i = 0; i < least; i++) {
        const x = pathBytes[aStart + i] ?? 0;
        const y = pathBytes[bStart + i] ?? 0;
        if (x !== y)
            return (x === odd_trees_SLASH ? slash : x) - (y === odd_trees_SLASH ? slash : y);
    }
    return aLength - bLength;
}
/** Whether path `a` goes on from path `b` with a slash. */
function isBelow({ pathBytes, pathOffsets }, a, b) {
    const aStart = pathOffsets[a] ?? 0;
    const bStart = pathOffsets[b] ?? 0;
    const bEnd = pathOffsets[b + 1] ?? 0;
    const after = aStart + bEnd - bStart;
    if (after >= (pathOffsets[a + 1] ?? 0) || pathBytes[after] !== odd_trees_SLASH)
        return false;
    return bufferOver(pathBytes, aStart, after).equals(bufferOver(pathBytes, bStart, bEnd));
}
/** New tables of these entries in this order: paths, ids and modes. */
function inOrder(from, order) {
    let bytes = 0;
    for (const entry of order)
        bytes += (from.pathOffsets[entry + 1] ?? 0) - (from.pathOffsets[entry] ?? 0);
    const tables = allocateTables(Math.max(1, order.length), Math.max(1, bytes), from.format);
    const { oidBytes } = from.format;
    for (const [i, entry] of order.entries()) {
        const start = from.pathOffsets[entry] ?? 0;
        const end = from.pathOffsets[entry + 1] ?? 0;
        const at = tables.pathOffsets[i] ?? 0;
        tables.pathBytes.set(from.pathBytes.subarray(start, end), at);
        tables.pathOffsets[i + 1] = at + end - start;
        tables.oids.set(from.oids.subarray(entry * oidBytes, (entry + 1) * oidBytes), i * oidBytes);
        tables.modes[i] = from.modes[entry] ?? 0;
    }
    tables.count = order.length;
    return tables;
}
/** Visits sorted entries with the directories that they are in, the root first. */
function forEachInDirectories(tables, visitor) {
    const { pathBytes, pathOffsets, count } = tables;
    const open = [{ number: visitor.enter(-1, 0, 0), start: 0, length: 0 }];
    for (let entry = 0; entry < count; entry++) {
        const start = pathOffsets[entry] ?? 0;
        const end = pathOffsets[entry + 1] ?? 0;
        for (let top = open[open.length - 1]; top !== undefined && open.length > 1; top = open[open.length - 1]) {
            const after = start + top.length;
            const inside = after < end &&
                pathBytes[after] === odd_trees_SLASH &&
                bufferOver(pathBytes, start, after).equals(bufferOver(pathBytes, top.start, top.start + top.length));
            if (inside)
                break;
            visitor.leave(top.number, entry);
            open.pop();
        }
        const top = open[open.length - 1];
        for (let at = start + (top === undefined || top.length === 0 ? 0 : top.length + 1); at < end; at++) {
            if (pathBytes[at] !== odd_trees_SLASH)
                continue;
            const parent = open[open.length - 1]?.number ?? 0;
            open.push({ number: visitor.enter(parent, entry, at - start), start, length: at - start });
        }
        visitor.entry(entry, open[open.length - 1]?.number ?? 0);
    }
    for (const { number } of open.reverse())
        visitor.leave(number, count);
}
/** A tree of the directory's .gitattributes alone: all that a look-up of conversions asks of a tree. */
function attributesTree(tables, firstEntry, pathLength) {
    const start = tables.pathOffsets[firstEntry] ?? 0;
    const directory = tables.pathBytes.subarray(start, start + pathLength);
    const path = pathLength === 0 ? ATTRIBUTES : Buffer.concat([directory, Buffer.from([odd_trees_SLASH]), ATTRIBUTES]);
    const entry = find(tables, path);
    const { oidBytes } = tables.format;
    if (entry < 0)
        return new TreeCursor(new Uint8Array(0), oidBytes);
    const oid = tables.oids.subarray(entry * oidBytes, (entry + 1) * oidBytes);
    return new TreeCursor(Buffer.concat([Buffer.from('100644 .gitattributes\0'), oid]), oidBytes);
}
/** Number of the entry of this path in sorted tables, or -1. */
function find({ pathBytes, pathOffsets, count }, path) {
    let low = 0;
    let high = count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        const order = Buffer.compare(pathBytes.subarray(pathOffsets[middle] ?? 0, pathOffsets[middle + 1] ?? 0), path);
        if (order === 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/open-conversions.js
/**
 * Looks up the conversions of the entries that are to be written or compared, once it is known which these are. Over an old
 * index most entries stay as they are and need none, and most directories' attributes need not be looked for.
 */



/**
 * Sets `conversions` of each regular file that will be written or compared.
 * @param all also of files that stay, where another file's way may lead over them
 */
function lookUpConversions({ tables, directories }, conversions, all) {
    const { pathBytes, pathOffsets, states, modes } = tables;
    /** From the root to the directory that the look-up is in. */
    const entered = [];
    const enter = (directory) => {
        const first = directories.firstEntry[directory] ?? 0;
        const length = directories.pathLength[directory] ?? 0;
        const start = pathOffsets[first] ?? 0;
        conversions.enterDirectory(attributesTree(tables, first, length), pathBytes.subarray(start, start + length));
        entered.push(directory);
    };
    const holds = (directory, entry) => entry < (directories.firstEntry[directory] ?? 0) + (directories.entryCount[directory] ?? 0);
    for (let entry = 0; entry < tables.count; entry++) {
        const state = states[entry];
        if (state === tables_State.SKIPPED || (state === tables_State.KEPT && !all))
            continue;
        const mode = modes[entry];
        if (mode === tree_MODE_SYMLINK || mode === tree_MODE_GITLINK)
            continue;
        // Entries come in order, so that what has ended does not come again.
        for (let top = entered.at(-1); top !== undefined && !holds(top, entry); top = entered.at(-1)) {
            conversions.leaveDirectory();
            entered.pop();
        }
        const top = entered.at(-1) ?? -1;
        const missing = [];
        let directory = tables.directories[entry] ?? 0;
        for (; directory !== top && directory >= 0; directory = directories.parent[directory] ?? -1)
            missing.push(directory);
        for (let next = missing.pop(); next !== undefined; next = missing.pop())
            enter(next);
        tables.conversions[entry] = conversions.lookUp(pathBytes, pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0);
    }
    for (; entered.length > 0; entered.pop())
        conversions.leaveDirectory();
}

;// CONCATENATED MODULE: external "node:worker_threads"
const external_node_worker_threads_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:worker_threads");
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/pool.js
/**
 * The worker threads of one checkout. They are started early, run once, and end by themselves. A thread that ends early, whatever the
 * reason, is noticed and reported; its entries are still PENDING in the tables and the caller writes them.
 */



/**
 * Young generation of a worker's heap: what a file leaves behind (a stat value, a view) is garbage at once, and the default of up to
 * 48 MB a thread would only let it pile up. 2 MB and 16 MB took the same time on the Linux tree.
 */
const YOUNG_GENERATION_MB = 2;
/** The worker's file beside this one, or its bundle beside the bundle that this is part of. */
function workerUrl() {
    const here = import.meta.url;
    return new URL(here.endsWith('.ts') ? './worker.ts' : '../worker/index.js', here);
}
class WorkerPool {
    #members = [];
    #onFailure = () => undefined;
    #onUnencoded = () => undefined;
    #job = null;
    /** Why threads could not be started. */
    #notStarted = [];
    /** Starts threads, or as many as the system allows. */
    start(count) {
        const url = workerUrl();
        for (let i = 0; i < count; i++) {
            const id = this.#members.length + 1;
            let worker;
            try {
                worker = new external_node_worker_threads_namespaceObject.Worker(url, {
                    name: `checkout-${id}`,
                    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
                });
            }
            catch (error) {
                const why = error instanceof Error ? error.message : String(error);
                this.#notStarted.push(`${count - i} of ${count} workers could not be started: ${why}; the others write their files`);
                return;
            }
            const member = { id, worker, ended: null, startedMs: performance.now(), waiting: null };
            worker.on('message', (message) => {
                if (message.type === 'failed')
                    this.#onFailure(message.entry, message.error);
                else if (message.type === 'unencoded')
                    this.#onUnencoded(message.entry);
                else
                    this.#settle(member, message);
            });
            worker.on('error', (error) => {
                member.ended ??= error instanceof Error ? error.message : String(error);
            });
            // 'exit' always comes, after the last message.
            worker.on('exit', (code) => {
                member.ended ??= `it ended with status ${code}`;
                if (this.#job !== null)
                    new Budget(this.#job.budget, id).reclaim();
                this.#settle(member, null);
            });
            this.#members.push(member);
        }
    }
    get size() {
        return this.#members.length;
    }
    /** Gives all workers the job. */
    begin(job, onFailure, onUnencoded = () => undefined) {
        this.#onFailure = onFailure;
        this.#onUnencoded = onUnencoded;
        this.#job = job;
        for (const { worker, id } of this.#members)
            worker.postMessage({ type: 'begin', id, job });
    }
    /** Has all workers take part in removing; settles when each has ended its part or died. */
    async remove(removals) {
        await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'remove', removals })));
    }
    /** Runs a pass on all workers; settles when each has ended its part or died. */
    async pass(pass) {
        await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'pass', pass })));
    }
    /** Has all workers clean; settles when each has ended its part or died. */
    async clean(share) {
        const messages = await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'clean', share })));
        return messages.flatMap((message) => (message?.type === 'cleaned' ? [message.outcome] : []));
    }
    /** Ends all workers and collects what they cost. */
    async end() {
        const deaths = [...this.#notStarted];
        const costs = await Promise.all(this.#members.map(async (member) => {
            const died = member.ended;
            const message = await this.#ask(member, { type: 'end' });
            if (message?.type === 'ended')
                return message.cost;
            const why = died ?? member.ended ?? 'no reason given';
            deaths.push(`worker ${member.id} ended early: ${why}; what it had not written was written by others`);
            return deadWorkerCost(member, this.#job?.counters ?? new Float64Array(0));
        }));
        return { costs, deaths };
    }
    /** Ends workers that got nothing to do, without waiting. */
    dismiss() {
        for (const { worker, ended } of this.#members) {
            if (ended === null)
                worker.postMessage({ type: 'end' });
        }
    }
    async #ask(member, message) {
        if (member.ended !== null)
            return null;
        return await new Promise((resolve) => {
            member.waiting = resolve;
            member.worker.postMessage(message);
        });
    }
    #settle(member, message) {
        const { waiting } = member;
        member.waiting = null;
        waiting?.(message);
    }
}
/** All that is known of a worker that could not tell what it cost: what it wrote. */
function deadWorkerCost(member, counters) {
    return {
        id: member.id,
        files: counters[COUNTERS * member.id + FILES_DONE] ?? 0,
        bytesWritten: counters[COUNTERS * member.id + BYTES_DONE] ?? 0,
        wallMs: performance.now() - member.startedMs,
        cpuUserMs: 0,
        cpuSystemMs: 0,
        waitMs: 0,
        peakMemoryBytes: 0,
        died: true,
    };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/promised-objects.js
/**
 * In a partial clone objects may be absent, and promised by a remote. What a checkout needs is fetched before anything is touched:
 * commits one by one, trees and .gitattributes level by level, and all blobs that will be written in one request.
 *
 * Sparse checkouts and updates ask for little that way: entries that are not written are not asked for.
 */







const promised_objects_ATTRIBUTES = Buffer.from('.gitattributes');
/** States before anything is written. COLLIDED are then paths that the file system takes for one. */
const WRITTEN_LATER = new Set([
    tables_State.PENDING,
    tables_State.REPLACE,
    tables_State.VERIFY,
    tables_State.COLLIDED,
    tables_State.FILTER,
    tables_State.FILTER_VERIFY,
]);
/** Commits and tags on the way that may be absent: each costs a request. */
const MOST_PEELED = 64;
/**
 * Follows tags to a commit as peelToTree, and fetches what is absent.
 * @throws CheckoutError what peelToTree and the fetch throw
 */
async function peelPromised(odb, hex, fetch) {
    for (let requests = 0;; requests++) {
        try {
            return peel_peelToTree(odb, hex);
        }
        catch (error) {
            const oid = error instanceof engine_errors/* CheckoutError */.vd && error.code === 'object-missing' ? error.subject.oid : undefined;
            if (oid === undefined || requests === MOST_PEELED)
                throw error;
            await fetchAll(odb, new Set([oid]), fetch);
        }
    }
}
/**
 * Fetches the trees of a commit and its .gitattributes, as far as they are absent. Damaged trees are left to the manifest to
 * tell.
 */
async function fetchTrees(odb, root, fetch) {
    const { oidBytes } = odb.format;
    const seen = new Set([oidToHex(root, 0, oidBytes)]);
    let level = [root];
    /** Blobs of all levels since the last request: they go along with trees, or are asked for at the end. */
    let wanted = new Set();
    while (level.length > 0 || wanted.size > 0) {
        const blobs = wanted.size;
        for (const oid of level)
            addAbsent(odb, oid, 0, wanted);
        if (wanted.size > blobs || level.length === 0) {
            await fetchAll(odb, wanted, fetch);
            wanted = new Set();
        }
        const next = [];
        for (const oid of level) {
            const bytes = odb.read(oid);
            if (odb.reader.type !== TREE)
                continue;
            const cursor = new TreeCursor(new Uint8Array(bytes), oidBytes);
            odb.reader.finish();
            while (cursor.next() === 1) {
                if (cursor.mode === tree_MODE_TREE) {
                    const hex = oidToHex(cursor.bytes, cursor.oidAt, oidBytes);
                    if (seen.size === seen.add(hex).size)
                        continue;
                    next.push(cursor.bytes.slice(cursor.oidAt, cursor.oidAt + oidBytes));
                }
                else if (cursor.mode !== tree_MODE_GITLINK &&
                    bufferOver(cursor.bytes, cursor.nameStart, cursor.nameEnd).equals(promised_objects_ATTRIBUTES)) {
                    addAbsent(odb, cursor.bytes, cursor.oidAt, wanted);
                }
            }
        }
        level = next;
    }
}
/** Fetches all blobs that are to be written and are absent, in one request. */
async function fetchBlobs(odb, tables, fetch) {
    const wanted = new Set();
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        const isLink = state === tables_State.LATER && tables.modes[entry] === tree_MODE_SYMLINK;
        if (isLink || WRITTEN_LATER.has(state ?? tables_State.LATER)) {
            addAbsent(odb, tables.oids, entry * tables.format.oidBytes, wanted);
        }
    }
    await fetchAll(odb, wanted, fetch);
}
function addAbsent(odb, oid, oidAt, wanted) {
    const absent = odb.absent(oid, oidAt);
    if (absent !== null)
        wanted.add(absent);
}
async function fetchAll(odb, wanted, fetch) {
    if (wanted.size === 0)
        return;
    const still = () => {
        odb.rescan();
        return [...wanted].filter((hex) => odb.absent(Buffer.from(hex, 'hex'), 0) !== null);
    };
    await fetch(still);
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/repair-trees.js
/**
 * Ids for the directories whose tree in the commit is not the one that git would write of the index's entries (an unusual mode,
 * an empty subtree, entries out of order): git makes that tree, and if the repository happens to have it, its cache tree names it.
 * So do we; without, git's own look at such a commit differs.
 */





/** Makes directories regular where the repository has the tree of their entries. Costs nothing where all are. */
function repairTrees({ directories, tables }, odb) {
    // What is irregular is so all the way up.
    if (directories.irregular[0] === 0)
        return;
    const { irregular, oids, format } = directories;
    // What is below a directory has a larger number.
    for (let directory = directories.count - 1; directory >= 0; directory--) {
        if (irregular[directory] === 0)
            continue;
        const oid = treeOf({ directories, tables }, directory);
        if (oid === null || !hasObject(odb, oid))
            continue;
        oids.set(oid, directory * format.oidBytes);
        irregular[directory] = 0;
    }
}
/** The id of the tree of a directory's entries; null where that of a directory in it is not known. */
function treeOf({ directories, tables }, directory) {
    const { pathBytes, pathOffsets } = tables;
    const { name, oidBytes } = directories.format;
    const first = directories.firstEntry[directory] ?? 0;
    const end = first + (directories.entryCount[directory] ?? 0);
    const length = directories.pathLength[directory] ?? 0;
    const nameAt = length === 0 ? 0 : length + 1;
    const parts = [];
    for (let entry = first; entry < end;) {
        const start = pathOffsets[entry] ?? 0;
        let child = tables.directories[entry] ?? 0;
        const isFile = child === directory;
        while (!isFile && directories.parent[child] !== directory)
            child = directories.parent[child] ?? directory;
        if (!isFile && directories.irregular[child] === 1)
            return null;
        const nameEnd = isFile ? (pathOffsets[entry + 1] ?? 0) : start + (directories.pathLength[child] ?? 0);
        const mode = isFile ? (tables.modes[entry] ?? 0) : 0o40000;
        const [from, at] = isFile ? [tables.oids, entry] : [directories.oids, child];
        parts.push(Buffer.from(`${mode.toString(8)} `), pathBytes.subarray(start + nameAt, nameEnd), repair_trees_NUL);
        parts.push(from.subarray(at * oidBytes, (at + 1) * oidBytes));
        entry += isFile ? 1 : (directories.entryCount[child] ?? 1);
    }
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    const hash = (0,external_node_crypto_.createHash)(name).update(`tree ${size}\0`);
    for (const part of parts)
        hash.update(part);
    return hash.digest();
}
const repair_trees_NUL = Buffer.alloc(1);
function hasObject(odb, oid) {
    if (!odb.find(oid, 0))
        return false;
    if (odb.pack !== LOOSE)
        return true;
    const hex = oidToHex(oid, 0, odb.format.oidBytes);
    return odb.directories.some((directory) => (0,external_node_fs_.existsSync)(loosePath(directory, hex)));
}

;// CONCATENATED MODULE: ./build/js/engine/index/serialize-index.js
/**
 * Writing the index: version 2, 3 when an entry needs the second flag word, or 4 where that is asked for, exactly as git
 * lays it out.
 *
 * It is on the critical path of a checkout: stat data exists only when the last file is written. So everything else
 * (names, ids, modes, flags, the cache tree) is laid out in one buffer of the final size while the workers still write,
 * and the end only drops in the stat words and hashes: of 90,000 entries (9.4 MB) 5 to 14 ms ahead and 6 ms at the end,
 * on two cores, Node 24.21.
 */



const serialize_index_HEADER_BYTES = 12;
const serialize_index_STAT_BYTES = 4 * STAT_WORDS;
const OID_AT = serialize_index_STAT_BYTES;
const MODE_AT = 4 * STAT.mode;
/** The length of a name that does not fit the 12 bits of the flags. */
const LONG_NAME = 0xfff;
/** Size of an entry of versions 2 and 3: padded with 1 to 8 NULs to a multiple of 8. */
function entryBytes(flagsAt, nameLength, extended) {
    return (flagsAt + (extended ? 4 : 2) + nameLength + 8) & ~7;
}
/** How many bytes path `i` has in common with the path before it, from the start. */
function sharedPrefix(bytes, offsets, i) {
    if (i === 0)
        return 0;
    const before = offsets[i - 1];
    const start = offsets[i];
    const most = Math.min(start - before, offsets[i + 1] - start);
    let length = 0;
    while (length < most && bytes[before + length] === bytes[start + length])
        length++;
    return length;
}
/** Bytes of a number in git's offset encoding: 7 bits a byte, 1 taken off for each byte that goes on. */
function offsetBytes(value) {
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = (rest >>> 7) - 1)
        length++;
    return length;
}
/** Writes a number in git's offset encoding, most significant byte first, so that it ends before `end`. */
function putOffset(out, end, value) {
    let at = end - 1;
    out[at] = value & 0x7f;
    for (let rest = value; rest >= 0x80;) {
        rest = (rest >>> 7) - 1;
        out[--at] = 0x80 | (rest & 0x7f);
    }
}
/** An index file that lacks only its stat words and its hash. */
class IndexSkeleton {
    file;
    count;
    format;
    /** Where each entry starts in the file. */
    entryOffsets;
    finished = false;
    /**
     * Lays out everything but stat data. `cacheTree` is the content of the TREE extension, null to leave it out. The
     * version is `least`; 2 becomes 3 where flags need it. Takes copies: the tables may change afterwards.
     */
    constructor(entries, cacheTree, least = 2) {
        const { count, pathBytes, pathOffsets, oids, modes, format } = entries;
        const { oidBytes } = format;
        const flagsAt = OID_AT + oidBytes;
        if (pathOffsets.length <= count || oids.length < count * oidBytes || modes.length < count) {
            throw (0,engine_errors/* bug */.jr)('index tables are shorter than their count');
        }
        this.count = count;
        this.format = format;
        this.entryOffsets = new Uint32Array(count);
        const extendedFlags = entries.extendedFlags;
        let size = serialize_index_HEADER_BYTES;
        let version = least;
        // Version 4 only: how much of the path before each path is used again.
        const shared = new Uint32Array(least === 4 ? count : 0);
        for (let i = 0; i < count; i++) {
            const extended = extendedFlags !== undefined && extendedFlags[i] !== 0;
            const nameLength = pathOffsets[i + 1] - pathOffsets[i];
            this.entryOffsets[i] = size;
            if (least === 4) {
                const prefix = sharedPrefix(pathBytes, pathOffsets, i);
                shared[i] = prefix;
                const dropped = i === 0 ? 0 : pathOffsets[i] - pathOffsets[i - 1] - prefix;
                size += flagsAt + (extended ? 4 : 2) + offsetBytes(dropped) + nameLength - prefix + 1;
            }
            else {
                if (extended)
                    version = 3;
                size += entryBytes(flagsAt, nameLength, extended);
            }
        }
        const extensionsAt = size;
        if (cacheTree !== null)
            size += 8 + cacheTree.length;
        size += oidBytes;
        if (size > 0xffff_ffff)
            throw (0,engine_errors/* bug */.jr)('an index beyond 4 GiB');
        // Zeroed memory: padding, and the stat words of entries that end up without.
        const file = Buffer.alloc(size);
        const view = new DataView(file.buffer, file.byteOffset, size);
        file.write('DIRC', 0, 'latin1');
        view.setUint32(4, version);
        view.setUint32(8, count);
        for (let i = 0; i < count; i++) {
            const at = this.entryOffsets[i];
            view.setUint32(at + MODE_AT, modes[i]);
            const oidAt = i * oidBytes;
            for (let b = 0; b < oidBytes; b++)
                file[at + OID_AT + b] = oids[oidAt + b];
            const nameStart = pathOffsets[i];
            const nameEnd = pathOffsets[i + 1];
            const kept = entries.flags === undefined ? 0 : entries.flags[i] & (FLAG.assumeValid | FLAG.stage);
            const more = extendedFlags === undefined ? 0 : extendedFlags[i];
            const flags = kept | (more === 0 ? 0 : FLAG.extended) | Math.min(nameEnd - nameStart, LONG_NAME);
            view.setUint16(at + flagsAt, flags);
            let nameAt = at + flagsAt + 2;
            if (more !== 0) {
                view.setUint16(nameAt, more);
                nameAt += 2;
            }
            let from = nameStart;
            if (least === 4) {
                const prefix = shared[i];
                const dropped = i === 0 ? 0 : nameStart - pathOffsets[i - 1] - prefix;
                nameAt += offsetBytes(dropped);
                putOffset(file, nameAt, dropped);
                from += prefix;
            }
            // A plain loop: names are around 40 bytes, where a `set` of a `subarray` costs more than the copy.
            for (let b = from; b < nameEnd; b++)
                file[nameAt++] = pathBytes[b];
        }
        if (cacheTree !== null) {
            file.write('TREE', extensionsAt, 'latin1');
            view.setUint32(extensionsAt + 4, cacheTree.length);
            file.set(cacheTree, extensionsAt + 8);
        }
        this.file = file;
    }
    /**
     * The complete file. `stats` holds STAT_WORDS an entry in host byte order, over shared memory if need be; the mode words
     * in it are ignored, those of the entries count. All zeros make an entry that git will look at. `flags` may mark
     * further entries assume-valid. Call once: the buffer is handed over.
     */
    finish(stats, flags) {
        const { file, count, entryOffsets, format } = this;
        if (this.finished)
            throw (0,engine_errors/* bug */.jr)('an index skeleton is finished twice');
        if (stats.length < count * STAT_WORDS)
            throw (0,engine_errors/* bug */.jr)('stat table is shorter than the index');
        this.finished = true;
        const view = new DataView(file.buffer, file.byteOffset, file.length);
        for (let i = 0; i < count; i++) {
            const at = entryOffsets[i];
            const from = i * STAT_WORDS;
            for (let word = 0; word < STAT_WORDS; word++) {
                if (word !== STAT.mode)
                    view.setUint32(at + 4 * word, stats[from + word]);
            }
            if (flags !== undefined && (flags[i] & FLAG.assumeValid) !== 0)
                file[at + OID_AT + format.oidBytes] |= FLAG.assumeValid >>> 8;
        }
        const end = file.length - format.oidBytes;
        file.set((0,external_node_crypto_.createHash)(format.name).update(file.subarray(0, end)).digest(), end);
        return file;
    }
}
/** The complete index file for entries whose stat data is known: layout and stat words in one step. */
function serializeIndex(entries, cacheTree, least = 2) {
    return new IndexSkeleton(entries, cacheTree, least).finish(entries.stats);
}

;// CONCATENATED MODULE: ./build/js/engine/plan/batches.js
/**
 * How the entries to write are cut into batches that workers claim: small enough to share the work out evenly, large enough
 * that claiming costs nothing beside it, and bounded in pack bytes so that one read of the pack serves a batch.
 */
/** 64 entries of the Linux tree take about 2 ms; claiming takes less than a microsecond. */
const BATCH_ENTRIES = 64;
/** Compressed bytes that a batch may span: less than half a read window. */
const BATCH_BYTES = 512 << 10;
/**
 * Cuts the write order into batches.
 * @param positions where each entry of the order lies in its pack, ascending within a pack
 * @returns starts of the batches, and the number of entries at the end
 */
function cutBatches(positions) {
    const count = positions.length;
    const starts = new Uint32Array(count + 1);
    let batches = 0;
    let start = 0;
    for (let i = 0; i < count; i++) {
        const span = (positions[i] ?? 0) - (positions[start] ?? 0);
        // A negative span is the step into the next pack.
        if (i === start || (i - start < BATCH_ENTRIES && span >= 0 && span < BATCH_BYTES))
            continue;
        starts[batches++] = start;
        start = i;
    }
    if (count > 0)
        starts[batches++] = start;
    starts[batches] = count;
    return starts.slice(0, batches + 1);
}
/**
 * Orders entries that share a base behind one another, and makes each such family one batch. Families with the largest bases come first:
 * they take longest, so the others even the work out, and memory that they free is large enough for all that follow.
 * @param entries their numbers
 * @param bases a key of each entry's base
 * @param baseSizes its size
 */
function groupFamilies(entries, bases, baseSizes) {
    const count = entries.length;
    // A few hundred of a large repository, so plain sorting will do. By entry within a family: nearly the order of the pack.
    const ranks = Array.from(entries.keys()).sort((a, b) => (baseSizes[b] ?? 0) - (baseSizes[a] ?? 0) ||
        (bases[a] ?? 0) - (bases[b] ?? 0) ||
        (entries[a] ?? 0) - (entries[b] ?? 0));
    const order = new Uint32Array(new SharedArrayBuffer(4 * count));
    const starts = [];
    ranks.forEach((rank, at) => {
        order[at] = entries[rank] ?? 0;
        if (at === 0 || bases[rank] !== bases[ranks[at - 1] ?? 0])
            starts.push(at);
    });
    return { order, batchStarts: Uint32Array.from([...starts, count]) };
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/leading-directories.js
/**
 * Makes the directories that entries lie in, and sees to it that each is a real directory: a file or a link where a directory
 * must be is removed, never followed. Main thread only, before any worker writes below.
 */




const leading_directories_UNKNOWN = 0;
/** Made by this run, so nothing can be in it that this run did not put there. */
const FRESH = 1;
/** Was there before. */
const EXISTING = 2;
class LeadingDirectories {
    #table;
    #paths;
    #pathBytes;
    #pathOffsets;
    #states;
    #keep;
    /**
     * @param rootIsEmpty nothing but the git directory is in the root, so that nothing needs to be looked at
     * @param keep a directory that must not be removed
     */
    constructor(table, entries, paths, rootIsEmpty, keep) {
        this.#table = table;
        this.#paths = paths;
        this.#pathBytes = entries.pathBytes;
        this.#pathOffsets = entries.pathOffsets;
        this.#states = new Uint8Array(table.count);
        this.#states[0] = rootIsEmpty ? FRESH : EXISTING;
        this.#keep = keep;
    }
    /**
     * Makes a directory and those above it.
     * @returns true when it was there before, so that something may be in it
     * @throws CheckoutError io, naming the directory
     */
    ensure(directory) {
        const state = this.#states[directory];
        if (state !== leading_directories_UNKNOWN)
            return state === EXISTING;
        // From the outermost unknown directory inwards; trees may be thousands deep, so without recursion.
        const chain = [];
        for (let at = directory; this.#states[at] === leading_directories_UNKNOWN; at = this.#table.parent[at] ?? 0)
            chain.push(at);
        for (let i = chain.length - 1; i >= 0; i--)
            this.#make(chain[i] ?? 0);
        return this.#states[directory] === EXISTING;
    }
    /**
     * As `ensure`, looking at the directory and all above it again: where names fold, what was written for another path may have
     * taken the place of any of them, and a filter driver may have done anything.
     */
    ensureAnew(directory) {
        for (let at = directory; at > 0; at = this.#table.parent[at] ?? 0)
            this.#states[at] = leading_directories_UNKNOWN;
        this.#states[0] = EXISTING;
        return this.ensure(directory);
    }
    /** Looks again: for use after something was removed. */
    forget() {
        for (let i = 1; i < this.#states.length; i++)
            if (this.#states[i] === EXISTING)
                this.#states[i] = leading_directories_UNKNOWN;
    }
    #make(directory) {
        const start = this.#pathOffsets[this.#table.firstEntry[directory] ?? 0] ?? 0;
        const end = start + (this.#table.pathLength[directory] ?? 0);
        const path = this.#paths.absolute(this.#pathBytes, start, end);
        const parent = this.#table.parent[directory] ?? 0;
        try {
            if (this.#states[parent] === EXISTING) {
                const stat = (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false });
                if (stat?.isDirectory() === true) {
                    this.#states[directory] = EXISTING;
                    return;
                }
                if (stat !== undefined)
                    removeAll(path, this.#keep);
            }
            (0,external_node_fs_.mkdirSync)(path);
        }
        catch (error) {
            // Below a fresh directory only a file system that folds names can have it already.
            if ((0,engine_errors/* errnoOf */.UQ)(error) !== 'EEXIST')
                throw (0,engine_errors/* ioError */.bD)('make directory', displayPath(this.#pathBytes, start, end), error);
            const stat = (0,external_node_fs_.lstatSync)(path);
            if (!stat.isDirectory())
                throw (0,engine_errors/* ioError */.bD)('make directory', displayPath(this.#pathBytes, start, end), error);
            this.#states[directory] = EXISTING;
            return;
        }
        this.#states[directory] = FRESH;
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
            const stat = (0,external_node_fs_.lstatSync)(this.#paths.absolute(path, start, end), { throwIfNoEntry: false });
            if (stat === undefined)
                return 'missing';
            return stat.isDirectory() ? 'real' : 'other';
        }
        catch (error) {
            const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
    const files = entries.filter((entry) => index.modes[entry] !== tree_MODE_GITLINK);
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
            removals.states[i] = removals_removeFile(removals, i, paths, directories);
        }
    }
}
function removals_removeFile(removals, i, paths, directories) {
    const start = removals.pathOffsets[i] ?? 0;
    const end = removals.pathOffsets[i + 1] ?? 0;
    const leading = directories.look(removals.pathBytes, start, end);
    if (leading === 'unknown')
        return Removal.FAILED;
    if (leading !== 'real')
        return Removal.NOT_OURS;
    return unlinkTracked(paths.absolute(removals.pathBytes, start, end)) === null ? Removal.GONE : Removal.FAILED;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/clear-way.js
/**
 * Clears the way for what is written: what is left to remove of what the new tree does not have, and what stands where an entry
 * goes. Main thread only.
 */








const clear_way_SLASH = 0x2f;
/**
 * Ends the removal of tracked entries that the new tree does not have: what no thread could remove, submodules, and the
 * directories that only such entries were in. A path below a link or below something that is no directory is not ours and
 * is left alone.
 * @param files what threads have removed
 * @param keep a directory that must not be removed
 */
function endRemovals(index, { removals, vanished, vanishedLengths }, files, paths, keep) {
    const { pathBytes, pathOffsets } = index;
    const warnings = [];
    const directories = new RealDirectories(paths);
    /** What a directory of which nothing was removed needs to be told by; null as long as there can be none. */
    const mayHaveNone = files.states.includes(Removal.NOT_OURS) || files.count < removals.length;
    const emptied = mayHaveNone ? new Set() : null;
    let count = 0;
    for (let i = 0; i < files.count; i++) {
        const state = files.states[i];
        if (state === Removal.GONE) {
            count++;
            if (emptied !== null)
                addDirectories(emptied, files.pathBytes, files.pathOffsets[i] ?? 0, files.pathOffsets[i + 1] ?? 0);
        }
        if (state === Removal.GONE || state === Removal.NOT_OURS)
            continue;
        const start = files.pathOffsets[i] ?? 0;
        const end = files.pathOffsets[i + 1] ?? 0;
        const leading = directories.look(files.pathBytes, start, end);
        if (leading === 'other' || leading === 'missing')
            continue;
        const errno = leading === 'real' ? unlinkTracked(paths.absolute(files.pathBytes, start, end)) : directories.lastErrno;
        if (errno === null)
            count++;
        else
            warnings.push(`unable to remove '${displayPath(files.pathBytes, start, end)}': ${errno}`);
    }
    for (const entry of removals) {
        if (index.modes[entry] !== tree_MODE_GITLINK)
            continue;
        const start = pathOffsets[entry] ?? 0;
        const end = pathOffsets[entry + 1] ?? 0;
        const leading = directories.look(pathBytes, start, end);
        if (leading === 'unknown') {
            warnings.push(`unable to remove '${displayPath(pathBytes, start, end)}': ${directories.lastErrno}`);
        }
        if (leading !== 'real')
            continue;
        const path = paths.absolute(pathBytes, start, end);
        // A populated submodule stays, as with git.
        const removed = removeEmptyDirectory(path, keep);
        if (removed)
            count++;
        if (removed || clear_way_lstatOrNothing(path) === undefined) {
            if (emptied !== null)
                addDirectories(emptied, pathBytes, start, end);
        }
        else
            warnings.push(`unable to remove the submodule directory '${displayPath(pathBytes, start, end)}'`);
    }
    // From the last one on, so that what is in a directory goes before it.
    for (let i = vanished.length - 1; i >= 0; i--) {
        const start = pathOffsets[vanished[i] ?? 0] ?? 0;
        const end = start + (vanishedLengths[i] ?? 0);
        // git goes upwards from what it has removed. A directory that was empty before stays.
        if (emptied?.has(latin1(pathBytes, start, end)) === false)
            continue;
        if (directories.leadTo(pathBytes, start, end))
            removeEmptyDirectory(paths.absolute(pathBytes, start, end), keep);
    }
    return { count, warnings };
}
/** Adds all directories that lead to a path. */
function addDirectories(found, bytes, start, end) {
    for (let at = lastSlash(bytes, start, end); at >= start; at = lastSlash(bytes, start, at)) {
        const directory = latin1(bytes, start, at);
        if (found.has(directory))
            return;
        found.add(directory);
    }
}
function latin1(bytes, start, end) {
    return bufferOver(bytes, start, end).toString('latin1');
}
/** Position of the last slash in [start, end), or start - 1. */
function lastSlash(bytes, start, end) {
    let at = end - 1;
    while (at >= start && bytes[at] !== clear_way_SLASH)
        at--;
    return at;
}
/**
 * Removes what stands where an entry goes: a file, a link, or a directory with all that is in it. A submodule's directory
 * stays for a submodule.
 * @returns whether something was removed
 * @throws CheckoutError io when it cannot be removed
 */
function clearEntry(tables, entry, paths, keep) {
    const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    const stat = clear_way_lstatOrNothing(path);
    if (stat === undefined)
        return false;
    if (stat.isDirectory() && tables.modes[entry] === tree_MODE_GITLINK)
        return false;
    removeAll(path, keep);
    return true;
}
/** What may not be looked at counts as nothing: creating the entry will fail, and that error says more. */
function clear_way_lstatOrNothing(path) {
    try {
        return (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false });
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return undefined;
    }
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
            throw new engine_errors/* CheckoutError */.vd('memory', `an unfinished $Id$ keyword is longer than ${this.#limit} bytes`);
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

const sinks_NUL = 0x00;
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
    if (byte === sinks_CR || byte === sinks_NUL)
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
            else if (byte === sinks_CR || byte === sinks_NUL) {
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
            throw (0,engine_errors/* bug */.jr)('content after its end');
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
        throw (0,engine_errors/* bug */.jr)(`content of the ${conversion.kind} kind cannot be converted in pieces`);
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
        throw (0,engine_errors/* bug */.jr)(`content that is not ours to convert: ${reason ?? ''}`);
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
const lfs_pointer_OID_AT = lfs_pointer_HEAD.length;
const SIZE_AT = lfs_pointer_OID_AT + lfs_pointer_HEX + MIDDLE.length;
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
    for (let i = 0; i < lfs_pointer_OID_AT; i++)
        if (content[i] !== lfs_pointer_HEAD[i])
            return -1;
    for (let i = 0; i < MIDDLE.length; i++)
        if (content[lfs_pointer_OID_AT + lfs_pointer_HEX + i] !== MIDDLE[i])
            return -1;
    for (let i = lfs_pointer_OID_AT; i < lfs_pointer_OID_AT + lfs_pointer_HEX; i++) {
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
    return Buffer.from(content.buffer, content.byteOffset + lfs_pointer_OID_AT, lfs_pointer_HEX).toString('latin1');
}

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
    if (storage !== undefined && /^$|^[~%]/.test(storage))
        return null;
    const directory = storage === undefined ? (0,external_node_path_.join)(commonDir, 'lfs') : (0,external_node_path_.isAbsolute)(storage) ? storage : (0,external_node_path_.join)(commonDir, storage);
    const skip = /^(true|1|on|yes|t)$/i.test(environment['GIT_LFS_SKIP_SMUDGE'] ?? '');
    return { objects: (0,external_node_path_.join)(directory, 'objects'), skip };
}
/** Path of an object of the store. */
function lfsObjectPath(store, oid) {
    return (0,external_node_path_.join)(store.objects, oid.slice(0, 2), oid.slice(2, 4), oid);
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/create-file.js
/**
 * Creates one file of the working tree. Always a new file: exclusive create means that nothing is followed, truncated or
 * shared, and that what is there is found out rather than overwritten. A file or link that is to be replaced is removed by
 * its name; a directory never is.
 */



const create_file_CREATE = external_node_fs_.constants.O_WRONLY | external_node_fs_.constants.O_CREAT | external_node_fs_.constants.O_EXCL;
function writeFully(fd, piece) {
    const { length } = piece;
    for (let at = 0; at < length;)
        at += (0,external_node_fs_.writeSync)(fd, piece, at, Math.min(length - at, MOST_AT_ONCE));
}
/** Removes a file or link; what cannot be removed will be in the way. Linux and Windows refuse to unlink a directory. */
function unlinkIfPossible(path) {
    try {
        (0,external_node_fs_.unlinkSync)(path);
        return true;
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
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
        return (0,external_node_fs_.openSync)(path, create_file_CREATE, mode);
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
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
            stat = (0,external_node_fs_.fstatSync)(fd, { bigint: true });
        }
        finally {
            // A file system on a network may say only here that the disk is full.
            (0,external_node_fs_.closeSync)(fd);
        }
        complete = true;
        return stat;
    }
    finally {
        if (!complete)
            (0,external_node_fs_.unlinkSync)(path);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/copy-file.js
/**
 * Creates one file of the working tree as the copy of another file, such as an object of the LFS store. Exclusively, as
 * create-file.ts does; sharing the blocks where the file system can.
 */



const { O_NONBLOCK = 0 } = external_node_fs_.constants;
/** A pipe in the place of a file must not hold the thread. */
const copy_file_READ = external_node_fs_.constants.O_RDONLY | O_NONBLOCK;
const copy_file_CREATE = external_node_fs_.constants.O_WRONLY | external_node_fs_.constants.O_CREAT | external_node_fs_.constants.O_EXCL;
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
    const from = openSource(source, options.size);
    try {
        if (options.shareBlocks)
            return shareBlocks(source, path, options);
        return createFile(path, options.executable, (write) => {
            pipe(from, options.size, write);
        });
    }
    finally {
        (0,external_node_fs_.closeSync)(from);
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
            (0,external_node_fs_.closeSync)(from);
        }
    };
}
/** Opens a regular file of this size. */
function openSource(source, size) {
    let from;
    try {
        from = (0,external_node_fs_.openSync)(source, copy_file_READ);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'ENOENT' || (0,engine_errors/* errnoOf */.UQ)(error) === 'ENOTDIR')
            throw new NoSource();
        throw error;
    }
    let right = false;
    try {
        const stat = (0,external_node_fs_.fstatSync)(from);
        right = stat.isFile() && stat.size === size;
    }
    finally {
        if (!right)
            (0,external_node_fs_.closeSync)(from);
    }
    if (!right)
        throw new NoSource();
    return from;
}
function pipe(from, size, write) {
    piece ??= Buffer.allocUnsafeSlow(copy_file_PIECE_BYTES);
    let left = size;
    while (left > 0) {
        const got = (0,external_node_fs_.readSync)(from, piece, 0, Math.min(left, copy_file_PIECE_BYTES), null);
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
        fd = (0,external_node_fs_.openSync)(path, copy_file_CREATE, executable ? 0o777 : 0o666);
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
        if (errno === 'EEXIST' || errno === 'EISDIR')
            return null;
        throw error;
    }
    let complete = false;
    try {
        try {
            const { mode } = (0,external_node_fs_.fstatSync)(fd);
            (0,external_node_fs_.copyFileSync)(source, `/proc/self/fd/${fd}`, external_node_fs_.constants.COPYFILE_FICLONE);
            (0,external_node_fs_.fchmodSync)(fd, mode & 0o7777);
            const stat = (0,external_node_fs_.fstatSync)(fd, { bigint: true });
            if (Number(stat.size) !== size)
                throw new NoSource();
            complete = true;
            return stat;
        }
        finally {
            (0,external_node_fs_.closeSync)(fd);
        }
    }
    finally {
        if (!complete)
            (0,external_node_fs_.unlinkSync)(path);
    }
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
            if (this.#reading && error instanceof engine_errors/* CheckoutError */.vd && error.code !== 'memory') {
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
        if (!this.#reading || !(error instanceof engine_errors/* CheckoutError */.vd) || error.code === 'memory')
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
            throw new engine_errors/* CheckoutError */.vd('object-corrupt', `object ${hex} is a ${typeName(reader.type)}, not a blob`, {
                oid: hex,
            });
        }
        const conversion = tables.modes[entry] === tree_MODE_SYMLINK ? AS_IT_IS : conversions[tables.conversions[entry] ?? 0];
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
        if (lfs.store.skip || conversion.driver?.lfs?.skip === true)
            return this.#put(entry, before, content);
        const source = lfsObjectPath(lfs.store, lfsPointerOid(content));
        const { tables } = this.#job;
        if (!verify && !this.#mayWrite(entry))
            return tables_State.COLLIDED;
        const path = this.#paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
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
        const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        if (error instanceof engine_errors/* CheckoutError */.vd) {
            const oid = oidToHex(tables.oids, entry * this.#oidBytes, this.#oidBytes);
            const subject = { ...error.subject, path, oid };
            return new engine_errors/* CheckoutError */.vd(error.code, `cannot write '${path}' (blob ${oid}): ${error.message}`, subject);
        }
        return (0,engine_errors/* ioError */.bD)('write', path, error);
    }
}
/** What converting so many bytes takes beside them, mostly: line ends and ident first, then the encoding. */
function convertedBound({ kind, crlf, ident, encoding }, size) {
    if (kind === 'none')
        return 0;
    const text = crlf === 'none' && !ident && encoding !== undefined ? 1 : 2;
    return text * size * (encoding === undefined ? 1 : 1 + encodedBound(encoding));
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/failures.js
/**
 * Notes that an entry could not be written by the main thread: its state, and an error that names the path.
 */




/** Notes that an entry has failed. The error is a CheckoutError, or one of the system's. */
function fail(tables, failures, entry, error) {
    const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    if (error instanceof engine_errors/* CheckoutError */.vd) {
        failures.set(entry, new engine_errors/* CheckoutError */.vd(error.code, `cannot write '${path}': ${error.message}`, { ...error.subject, path }));
    }
    else {
        const kind = tables.modes[entry] === tree_MODE_SYMLINK ? 'create the link' : 'write';
        failures.set(entry, (0,engine_errors/* ioError */.bD)(kind, path, error));
    }
    tables.states[entry] = tables_State.FAILED;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/held-memory.js

/** An entry of an index file beside its id and path: stat data, flags, padding of 8 bytes at most. */
const INDEX_FILE_ENTRY_BYTES = 42 + 8;
/** Bytes of the tables, of the old index, and of the new index file that is prepared. */
function heldBytes(tables, index) {
    const { count, format } = tables;
    const paths = tables.pathOffsets[count] ?? 0;
    const perEntry = [
        tables.pathOffsets,
        tables.modes,
        tables.flags,
        tables.extendedFlags,
        tables.conversions,
        tables.states,
        tables.packs,
        tables.offsets,
        tables.directories,
    ].reduce((sum, { BYTES_PER_ELEMENT }) => sum + BYTES_PER_ELEMENT, 0) +
        4 * tables_STAT_WORDS +
        format.oidBytes;
    const newFile = count * (INDEX_FILE_ENTRY_BYTES + format.oidBytes) + paths;
    const old = index === null
        ? 0
        : [
            index.pathBytes,
            index.pathOffsets,
            index.oids,
            index.modes,
            index.stats,
            index.flags,
            index.extendedFlags,
        ].reduce((sum, { byteLength }) => sum + byteLength, 0);
    return count * perEntry + paths + newFile + old;
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/create-link.js
/**
 * Creates symbolic links and submodule directories. The main thread makes them after all files, so that no link can
 * stand where a worker still expects a directory.
 */



/**
 * Creates a link to `target` (git cuts it at the first NUL).
 * @returns its stat data, or null when something is at the path already
 */
function createLink(path, target) {
    try {
        (0,external_node_fs_.symlinkSync)(cutAtNul(target), path);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === 'EEXIST')
            return null;
        throw error;
    }
    return (0,external_node_fs_.lstatSync)(path, { bigint: true });
}
/** Whether the link at the path leads to `target`. What cannot be read does not. */
function linkHasTarget(path, target) {
    try {
        return (0,external_node_fs_.readlinkSync)(path, { encoding: 'buffer' }).equals(cutAtNul(target));
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return false;
    }
}
function cutAtNul(target) {
    const zero = target.indexOf(0);
    return bufferOver(target, 0, zero < 0 ? target.length : zero);
}
/** Makes a submodule's directory; null where one is there, whose stat data git does not take either. */
function createGitlinkDirectory(path) {
    try {
        (0,external_node_fs_.mkdirSync)(path);
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) !== 'EEXIST')
            throw error;
        return null;
    }
    return (0,external_node_fs_.lstatSync)(path, { bigint: true });
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/links-and-submodules.js
/**
 * Makes links and submodule directories, in the main thread and in index order, when all files are written.
 */











/** Makes links and submodule directories, in index order. */
function writeLater(request, prepared, directories, failures) {
    const { tables } = prepared.manifest;
    for (let entry = 0; entry < tables.count; entry++) {
        if (tables.states[entry] === tables_State.LATER)
            makeLater(request, prepared, directories, failures, entry);
    }
}
/** Makes one link or submodule directory. */
function makeLater(request, prepared, directories, failures, entry) {
    const { tables } = prepared.manifest;
    const start = tables.pathOffsets[entry] ?? 0;
    const end = tables.pathOffsets[entry + 1] ?? 0;
    const absolute = () => prepared.paths.absolute(tables.pathBytes, start, end);
    try {
        const existed = directories.ensure(tables.directories[entry] ?? 0);
        let made;
        if (tables.modes[entry] === tree_MODE_GITLINK) {
            if (existed)
                clearEntry(tables, entry, prepared.paths, request.keep);
            made = createGitlinkDirectory(absolute());
            if (made === null) {
                tables.states[entry] = tables_State.KEPT;
                return;
            }
        }
        else {
            const target = readLinkTarget(request.odb, tables, entry);
            // Stat data from the old index: the link matched them, but may have been changed in the same second.
            const matched = tables.stats[entry * tables_STAT_WORDS + STAT.mtimeSeconds] !== 0;
            // In a clone a link takes no directory's place: a submodule may be meant to go below it (CVE-2024-32002).
            const yields = request.isClone && isDirectory(absolute());
            if (yields || (matched && linkHasTarget(absolute(), target))) {
                tables.states[entry] = tables_State.KEPT;
                return;
            }
            if (existed)
                clearEntry(tables, entry, prepared.paths, request.keep);
            made = createLink(absolute(), target);
            if (made === null) {
                clearEntry(tables, entry, prepared.paths, request.keep);
                made = createLink(absolute(), target);
            }
        }
        // What may not be looked at is not removed.
        if (made === null)
            throw new engine_errors/* CheckoutError */.vd('io', 'something is in its way', { errno: 'EEXIST' });
        statToWords(made, process.platform, tables.stats, entry * tables_STAT_WORDS, tables.modes[entry] ?? 0);
        tables.states[entry] = tables_State.WRITTEN;
    }
    catch (error) {
        fail(tables, failures, entry, error);
    }
}
function isDirectory(path) {
    return (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
function readLinkTarget(odb, tables, entry) {
    const content = odb.read(tables.oids, entry * tables.format.oidBytes);
    if (odb.reader.type !== BLOB)
        throw new engine_errors/* CheckoutError */.vd('object-corrupt', 'the link target is not a blob');
    const target = Buffer.from(bufferOver(content));
    odb.releaseMemory();
    return target;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/make-way.js
/**
 * Makes directories and clears the way for entries, a step ahead of the workers, who follow as it goes.
 */








/** Directories are made this many entries at a time before workers are told, so that they are not told for each file. */
const READY_STEP = 256;
/** Makes directories, and removes what is in the way if workers do not, in write order, letting the workers follow. */
async function clearWay(request, prepared, order, directories, control, failures) {
    const { tables } = prepared.manifest;
    const replace = workersReplace(request, prepared);
    const publish = (ready) => {
        Atomics.store(control, READY, ready);
        Atomics.notify(control, READY);
    };
    if (request.foldsNames) {
        // The first one to need a directory says how it is spelled.
        for (let entry = 0; entry < tables.count; entry++) {
            const state = tables.states[entry];
            if (isForWorkers(state) || state === tables_State.LATER || state === tables_State.COLLIDED) {
                directories.ensure(tables.directories[entry] ?? 0);
            }
        }
    }
    for (let i = 0; i < order.length; i++) {
        const entry = order[i] ?? 0;
        if (i % READY_STEP === 0 && i > 0) {
            // Where names fold, a removal for one entry could hit what a worker has just written for another.
            if (!request.foldsNames)
                publish(i);
            // Let signals through now and then.
            if (i % (16 * READY_STEP) === 0) {
                await (0,promises_namespaceObject.setImmediate)();
                stopIfAborted(request);
            }
        }
        const existed = directories.ensure(tables.directories[entry] ?? 0);
        if (!replace && existed && tables.states[entry] !== tables_State.VERIFY)
            clearOrFail(request, prepared, failures, entry);
    }
    publish(order.length);
}
/**
 * Removes what is still at the place of an entry that failed before its turn to be cleared, for want of its blob: git clears
 * the way first, and an old file must not pass for the new one.
 */
function clearFailed(request, { manifest: { tables }, paths }, directories, failures) {
    for (const entry of failures.keys()) {
        // Stat data are those of a file that is as it should be, as far as can be told without the blob.
        if (tables.stats[entry * tables_STAT_WORDS + STAT.mtimeSeconds] !== 0)
            continue;
        try {
            if (directories.ensure(tables.directories[entry] ?? 0))
                clearEntry(tables, entry, paths, request.keep);
        }
        catch (error) {
            // It has failed already, and the first reason is the better one.
            if (!(error instanceof engine_errors/* CheckoutError */.vd))
                throw error;
        }
    }
}
/** Removes what is in an entry's way; where that fails the entry has failed, and the others go on. */
function clearOrFail(request, prepared, failures, entry) {
    try {
        clearEntry(prepared.manifest.tables, entry, prepared.paths, request.keep);
        return true;
    }
    catch (error) {
        if (!(error instanceof engine_errors/* CheckoutError */.vd))
            throw error;
        fail(prepared.manifest.tables, failures, entry, error);
        return false;
    }
}
/**
 * Whether workers remove the files that theirs replace. Not where names may fold: a removal for one entry could
 * hit what has just been written for another. And not in an empty working tree, where nothing but such another file can
 * be in the way.
 */
function workersReplace(request, prepared) {
    return !request.foldsNames && !prepared.rootIsEmpty;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/settle.js
/**
 * The end of every entry: each has a state, and the index gets its stat data and flags from that.
 */



/** Counts the final states. Stat data of failed entries are cleared, so that git looks at them. */
function settle(tables, ignoreStat) {
    let written = 0;
    let kept = 0;
    let excluded = 0;
    for (let entry = 0; entry < tables.count; entry++) {
        switch (tables.states[entry]) {
            case tables_State.WRITTEN:
                written++;
                if (ignoreStat)
                    tables.flags[entry] = (tables.flags[entry] ?? 0) | FLAG.assumeValid;
                break;
            case tables_State.KEPT:
                kept++;
                break;
            case tables_State.SKIPPED:
                excluded++;
                break;
            case tables_State.FAILED:
                tables.stats.fill(0, entry * tables_STAT_WORDS, (entry + 1) * tables_STAT_WORDS);
                break;
            default:
                throw (0,engine_errors/* bug */.jr)(`entry ${entry} ended without a state`);
        }
    }
    return { written, kept, excluded };
}

;// CONCATENATED MODULE: ./build/js/engine/index/cache-tree.js

/** `entryCount` of a directory whose tree is not known; it has no object id, and its parents must be unknown too. */
const UNKNOWN_TREE = 0xffff_ffff;
/**
 * The content of the TREE extension, without its header. Children come out in the order that git keeps them in, by
 * length of the name and then by its bytes, whatever order they are in here.
 */
function serializeCacheTree(directories, pathBytes) {
    const { count, parent, nameStart, nameEnd, entryCount, oids } = directories;
    const { oidBytes } = directories.format;
    if (count === 0)
        return new Uint8Array(0);
    const { childStart, children } = childrenInGitOrder(directories, pathBytes);
    // Bound: name, NUL, two decimal numbers of at most 10 digits, space, newline, id.
    let bound = 0;
    for (let i = 0; i < count; i++)
        bound += nameEnd[i] - nameStart[i] + 23 + oidBytes;
    const out = new Uint8Array(bound);
    let at = 0;
    const putDecimal = (value) => {
        const text = String(value);
        for (let i = 0; i < text.length; i++)
            out[at++] = text.charCodeAt(i);
    };
    // The stack holds directories still to be written, the next one on top: no recursion, since trees can be 2048 deep.
    const stack = new Int32Array(count);
    let depth = 1;
    let written = 0;
    while (depth > 0) {
        const directory = stack[--depth];
        for (let i = nameStart[directory]; i < nameEnd[directory]; i++)
            out[at++] = pathBytes[i];
        out[at++] = 0;
        const entries = entryCount[directory];
        putDecimal(entries === UNKNOWN_TREE ? -1 : entries);
        out[at++] = 0x20;
        putDecimal(childStart[directory + 1] - childStart[directory]);
        out[at++] = 0x0a;
        if (entries !== UNKNOWN_TREE) {
            for (let i = directory * oidBytes; i < (directory + 1) * oidBytes; i++)
                out[at++] = oids[i];
        }
        for (let i = childStart[directory + 1] - 1; i >= childStart[directory]; i--)
            stack[depth++] = children[i];
        written++;
    }
    if (written !== count || parent[0] !== -1)
        throw (0,engine_errors/* bug */.jr)('the directories of a cache tree are not a tree');
    return out.subarray(0, at);
}
/** Children of directory i: children[childStart[i], childStart[i + 1]). */
function childrenInGitOrder(directories, pathBytes) {
    const { count, parent, nameStart, nameEnd } = directories;
    const childStart = new Uint32Array(count + 1);
    for (let i = 1; i < count; i++) {
        const above = parent[i];
        if (above < 0 || above >= i)
            throw (0,engine_errors/* bug */.jr)('a directory of a cache tree comes before its parent');
        childStart[above + 1]++;
    }
    for (let i = 0; i < count; i++)
        childStart[i + 1] += childStart[i];
    const next = childStart.slice();
    const children = new Uint32Array(Math.max(0, count - 1));
    for (let i = 1; i < count; i++)
        children[next[parent[i]]++] = i;
    const compare = (a, b) => {
        const aStart = nameStart[a];
        const bStart = nameStart[b];
        const length = nameEnd[a] - aStart;
        const difference = length - (nameEnd[b] - bStart);
        if (difference !== 0)
            return difference;
        for (let i = 0; i < length; i++) {
            const order = pathBytes[aStart + i] - pathBytes[bStart + i];
            if (order !== 0)
                return order;
        }
        return 0;
    };
    for (let i = 0; i < count; i++) {
        const end = childStart[i + 1];
        if (end - childStart[i] > 1)
            children.subarray(childStart[i], end).sort(compare);
    }
    return { childStart, children };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/tree-extension.js


/** The cache tree, as far as the ids of trees can be vouched for. */
function cacheTreeOf(manifest) {
    const { directories, tables } = manifest;
    const known = knownEntryCounts(manifest);
    const { count, irregular } = directories;
    const { oidBytes } = directories.format;
    const parent = new Int32Array(count);
    const nameStart = new Uint32Array(count);
    const nameEnd = new Uint32Array(count);
    const entryCount = new Uint32Array(count);
    const oids = new Uint8Array(count * oidBytes);
    // Directories without entries are in no index, so the others move up.
    const numbers = new Int32Array(count);
    let rows = 0;
    for (let i = 0; i < count; i++) {
        if (i > 0 && directories.entryCount[i] === 0)
            continue;
        const row = rows++;
        numbers[i] = row;
        const above = directories.parent[i] ?? -1;
        parent[row] = above < 0 ? -1 : (numbers[above] ?? 0);
        if (i > 0) {
            const pathStart = tables.pathOffsets[directories.firstEntry[i] ?? 0] ?? 0;
            nameStart[row] = pathStart + (above === 0 ? 0 : (directories.pathLength[above] ?? 0) + 1);
            nameEnd[row] = pathStart + (directories.pathLength[i] ?? 0);
        }
        entryCount[row] = irregular[i] === 1 ? UNKNOWN_TREE : (known[i] ?? 0);
        oids.set(directories.oids.subarray(i * oidBytes, (i + 1) * oidBytes), row * oidBytes);
    }
    return serializeCacheTree({ format: directories.format, count: rows, parent, nameStart, nameEnd, entryCount, oids }, tables.pathBytes);
}
/** The entries of each directory. An entry that is intended only is in no tree that git would make of the index. */
function knownEntryCounts({ directories, tables }) {
    let counts = directories.entryCount;
    for (let entry = 0; entry < tables.count; entry++) {
        if (((tables.extendedFlags[entry] ?? 0) & index_table_EXTENDED_FLAG.intentToAdd) === 0)
            continue;
        if (counts === directories.entryCount)
            counts = counts.slice();
        for (let above = tables.directories[entry] ?? 0; above >= 0; above = directories.parent[above] ?? -1) {
            counts[above] = UNKNOWN_TREE;
        }
    }
    return counts;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/write-order.js
/**
 * In which order the entries are written: as their blobs lie in the packs, so that each pack is read once from front to back and the
 * members of a delta family come together. Fresh packs hold blobs mostly in tree order, so this is close to the order
 * of directories, too.
 */


/**
 * Looks up where the blob of each entry for workers is, and sorts. Fills `packs` and `offsets` of the tables.
 * @param count at least how many there are
 */
function orderWrites(tables, odb, count) {
    const missing = [];
    const found = new Uint32Array(count);
    let foundCount = 0;
    for (let entry = 0; entry < tables.count; entry++) {
        if (!isForWorkers(tables.states[entry]))
            continue;
        const oidAt = entry * tables.format.oidBytes;
        if (!odb.find(tables.oids, oidAt) && !odb.findAgain(tables.oids, oidAt, -1, 0)) {
            missing.push(entry);
            continue;
        }
        tables.packs[entry] = odb.pack;
        tables.offsets[entry] = odb.offset;
        found[foundCount++] = entry;
    }
    return { ...sortWrites(tables, found.subarray(0, foundCount)), missing };
}
/** Sorts entries whose places are in the tables. */
function sortWrites(tables, entries) {
    // A 64-bit key, built as two words so that no BigInt is made for an entry: offset (40 bits), then the entry (24 bits).
    const keysByPack = new Map();
    for (const entry of entries) {
        const pack = tables.packs[entry] ?? 0;
        let keys = keysByPack.get(pack);
        if (keys === undefined) {
            keys = { words: new Uint32Array(2 * Math.max(1, keysByPack.size === 0 ? entries.length : 64)), count: 0 };
            keysByPack.set(pack, keys);
        }
        if (2 * keys.count === keys.words.length) {
            const grown = new Uint32Array(keys.words.length * 2);
            grown.set(keys.words);
            keys.words = grown;
        }
        // Loose objects keep the order of their paths.
        const offset = pack === LOOSE ? 0 : (tables.offsets[entry] ?? 0);
        keys.words[2 * keys.count] = ((offset % 0x100) << 24) | entry;
        keys.words[2 * keys.count + 1] = Math.floor(offset / 0x100);
        keys.count++;
    }
    const total = [...keysByPack.values()].reduce((sum, keys) => sum + keys.count, 0);
    const order = new Uint32Array(new SharedArrayBuffer(4 * total));
    const positions = new Float64Array(total);
    let at = 0;
    for (const pack of [...keysByPack.keys()].sort((a, b) => a - b)) {
        const keys = keysByPack.get(pack);
        if (keys === undefined)
            continue;
        // Little-endian machines only, as all that Node runs on but s390x; there the order is merely not the best.
        new BigUint64Array(keys.words.buffer, 0, keys.count).sort();
        for (let i = 0; i < keys.count; i++) {
            const low = keys.words[2 * i] ?? 0;
            order[at] = low & MAX_ENTRIES;
            positions[at] = (keys.words[2 * i + 1] ?? 0) * 0x100 + (low >>> 24);
            at++;
        }
    }
    return { order, positions };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/unread.js






/** Whether an entry waits for a second look. */
function isUnread(state) {
    return state === tables_State.UNREAD || state === tables_State.UNREAD_VERIFY;
}
/** Looks for another place of an entry's object that could not be read, and puts it into the tables. */
function findAgain(odb, tables, entry) {
    if (!odb.findAgain(tables.oids, entry * tables.format.oidBytes, tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0))
        return false;
    tables.packs[entry] = odb.pack;
    tables.offsets[entry] = odb.offset;
    return true;
}
/** Finds the blob of an entry that the workers did not get. */
function locate(odb, tables, failures, entry) {
    const oidAt = entry * tables.format.oidBytes;
    if (!odb.find(tables.oids, oidAt) && !odb.findAgain(tables.oids, oidAt, -1, 0)) {
        fail(tables, failures, entry, missing(tables.oids, oidAt, tables.format));
        return false;
    }
    tables.packs[entry] = odb.pack;
    tables.offsets[entry] = odb.offset;
    return true;
}
/**
 * The pass over what could not be read where it was found: a repack by another process may have moved all that is left, so this is done
 * by all workers again. What cannot be read there either is left to the main thread. Null when there is nothing to do.
 */
function passOverUnread(odb, tables, control) {
    if (Atomics.load(control, STOP) !== 0)
        return null;
    const moved = [];
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        if (!isUnread(state) || !findAgain(odb, tables, entry))
            continue;
        tables.states[entry] = state === tables_State.UNREAD ? tables_State.PENDING : tables_State.VERIFY;
        moved.push(entry);
    }
    if (moved.length === 0)
        return null;
    const { order, positions } = sortWrites(tables, Uint32Array.from(moved));
    Atomics.store(control, NEXT_BATCH, 0);
    Atomics.store(control, READY, order.length);
    return { order, batchStarts: cutBatches(positions), deferred: null, packs: [...odb.packs] };
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/write-remaining.js
/**
 * Writes in the main thread what no worker did: entries of workers that died, collisions, and what could not be read.
 */









/** Writes in the main thread, in index order, what no worker did: entries of workers that died, and collisions. */
async function writeRemaining(request, prepared, directories, writer, filters, failures) {
    const { manifest, paths, collisions } = prepared;
    const { tables } = manifest;
    directories.forget();
    addPartners(tables, paths);
    /** Groups of which one entry has taken another's place. */
    const hit = new Set();
    const write = (entry, state) => {
        for (;;) {
            tables.states[entry] = state;
            writer.write(entry, null);
            writer.dropRetained();
            if (!isUnread(tables.states[entry]))
                return;
            if (!findAgain(request.odb, tables, entry))
                break;
            writer.usePacks(request.odb.packs);
        }
        tables.states[entry] = tables_State.FAILED;
        if (writer.unread !== null)
            failures.set(entry, writer.unread);
    };
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        const group = collisions?.groups[entry] ?? 0;
        const open = state === tables_State.COLLIDED || isUnread(state) || isForWorkers(state);
        if (!open && (group === 0 || state !== tables_State.LATER))
            continue;
        stopIfAborted(request);
        // A worker that died may have left a part of the file; a collision, another file.
        const directory = tables.directories[entry] ?? 0;
        if (state === tables_State.COLLIDED || group > 0)
            directories.ensureAnew(directory);
        else
            directories.ensure(directory);
        // What is there stays as long as nobody knows that it must be other.
        if (state === tables_State.UNREAD_VERIFY && group === 0) {
            write(entry, tables_State.VERIFY);
            const now = tables.states[entry];
            if (now !== tables_State.COLLIDED && now !== tables_State.FILTER_VERIFY)
                continue;
        }
        if (group > 0 && isThere(tables, entry, paths))
            hit.add(group);
        if (state === tables_State.LATER) {
            makeLater(request, prepared, directories, failures, entry);
            continue;
        }
        if (!clearOrFail(request, prepared, failures, entry))
            continue;
        if (filters.isFiltered(entry)) {
            await filters.writeCollided(entry);
            continue;
        }
        if (group > 0 && !isUnread(state) && !locate(request.odb, tables, failures, entry))
            continue;
        writer.usePacks(request.odb.packs);
        write(entry, tables_State.PENDING);
        // A file of Git LFS that is not in the store.
        if (tables.states[entry] === tables_State.FILTER)
            await filters.writeCollided(entry);
        await (0,promises_namespaceObject.setImmediate)();
    }
    if (request.isClone && hit.size > 0 && collisions !== null) {
        request.warn(collisionWarning(tables, collisions.groups, hit));
    }
}
function isThere(tables, entry, paths) {
    const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    try {
        return (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false }) !== undefined;
    }
    catch (error) {
        if ((0,engine_errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return false;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/write-tree.js
/**
 * Writes the tree that was prepared: removals, the passes of the workers, what is left to the main thread, and the index at last.
 */


























/** How often progress is told. */
const PROGRESS_MS = 100;
/**
 * Writes.
 * @throws CheckoutError; the old index stays then
 */
async function writeTree(request, prepared, pool, clock) {
    const { manifest, comparison, toFilter, plan, paths } = prepared;
    const { tables } = manifest;
    const failures = new Map();
    // From here on memory is the workers'.
    request.odb.releaseMemory();
    const control = createControl();
    const job = {
        tables,
        control,
        counters: createCounters(pool.size),
        budget: Budget.create(request.objectBudget(plan, heldBytes(tables, request.index)), pool.size),
        packs: request.odb.packs,
        replacements: request.odb.replacements,
        verify: request.odb.verify,
        objectDirectories: request.odb.directories,
        workTree: request.workTree,
        conversions: request.conversionList(),
        lfs: request.lfs,
        replaces: workersReplace(request, prepared),
        platform: process.platform,
    };
    const onFailure = (entry, error) => {
        failures.set(entry, engine_errors/* CheckoutError */.vd.fromJSON(error));
    };
    const stop = () => {
        Atomics.store(control, STOP, 1);
        Atomics.notify(control, READY);
    };
    request.signal?.addEventListener('abort', stop, { once: true });
    const progress = setInterval(() => {
        request.onProgress({
            phase: 'write',
            filesDone: sumCounters(job.counters, FILES_DONE),
            filesTotal: comparison.toWrite,
            bytesDone: sumCounters(job.counters, BYTES_DONE),
        });
    }, PROGRESS_MS);
    const mainMeter = new CostMeter(0);
    const onUnencoded = (entry) => {
        const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        request.warn(`'${path}' cannot be written in its working-tree-encoding and stays in UTF-8`);
    };
    const onLarge = () => mainMeter.sample();
    const mainWriter = new EntryWriter(job, 0, onFailure, onLarge, onUnencoded);
    const drivers = new FilterDrivers({
        workTree: request.workTree,
        environment: request.driverEnvironment,
        warn: request.warn,
        signal: request.signal,
    });
    try {
        // Threads were started for what the walk met; of an odd tree there may be nothing left to write.
        const threads = pool.size > 0;
        if (threads)
            pool.begin(job, onFailure, onUnencoded);
        const removals = request.index === null ? null : createRemovals(request.index, comparison.removals);
        const removing = threads && removals !== null && removals.count > 0 ? pool.remove(removals) : null;
        const { order, positions, missing: absent } = orderWrites(tables, request.odb, comparison.toWrite - toFilter);
        for (const entry of absent) {
            fail(tables, failures, entry, missing(tables.oids, entry * tables.format.oidBytes, tables.format));
        }
        if (removals !== null)
            removeFiles(control, removals, paths);
        await removing;
        stopIfAborted(request);
        const removed = request.index === null || removals === null
            ? { count: 0, warnings: [] }
            : endRemovals(request.index, comparison, removals, paths, request.keep);
        for (const line of removed.warnings)
            request.warn(line);
        // Workers write from here on; each waits until its next batch is cleared.
        const first = {
            order,
            batchStarts: cutBatches(positions),
            deferred: {
                entries: new Uint32Array(new SharedArrayBuffer(4 * order.length)),
                bases: new Float64Array(new SharedArrayBuffer(8 * order.length)),
                baseSizes: new Float64Array(new SharedArrayBuffer(8 * order.length)),
            },
            // Workers got their job before it was known where the objects are.
            packs: [...request.odb.packs],
        };
        const running = threads ? pool.pass(first) : null;
        const directories = new LeadingDirectories(manifest.directories, tables, paths, prepared.rootIsEmpty, request.keep);
        const filters = new FilterPass({
            tables,
            conversions: job.conversions,
            odb: request.odb,
            workTree: request.workTree,
            directories,
            drivers,
            withLfs: job.lfs !== null,
            writer: mainWriter,
            ref: request.ref,
            treeish: request.commit,
            clear: (entry) => clearOrFail(request, prepared, failures, entry),
            stopIfAborted: () => stopIfAborted(request),
        });
        let skeleton;
        try {
            filters.clearWay();
            await clearWay(request, prepared, order, directories, control, failures);
            clock.end('clear');
            skeleton = new IndexSkeleton(tables, cacheTreeOf(manifest), request.indexFormat);
            // The main thread has nothing else to do while workers write.
            if (toFilter > 0)
                await filters.run();
        }
        catch (error) {
            stop();
            await running;
            throw error;
        }
        const runHere = async (pass) => {
            if (pass.packs !== undefined)
                mainWriter.usePacks(pass.packs);
            while (writeBatch(job, pass, mainWriter)) {
                mainMeter.sample();
                await (0,promises_namespaceObject.setImmediate)();
            }
        };
        await (running ?? runHere(first));
        const second = secondPass(first, control);
        if (second !== null)
            await (threads ? pool.pass(second) : runHere(second));
        const third = passOverUnread(request.odb, tables, control);
        if (third !== null)
            await (threads ? pool.pass(third) : runHere(third));
        const result = await pool.end();
        stopIfAborted(request);
        mainWriter.usePacks(request.odb.packs);
        await writeRemaining(request, prepared, directories, mainWriter, filters, failures);
        // What workers did not find in the Git LFS store.
        if (job.conversions.some(({ driver }) => driver?.lfs !== undefined))
            await filters.run();
        const problems = await filters.finishDelayed();
        clock.end('write');
        writeLater(request, prepared, directories, failures);
        clearFailed(request, prepared, directories, failures);
        clock.end('links');
        stopIfAborted(request);
        const counts = settle(tables, request.ignoreStat);
        await drivers.close();
        request.lock.writeAndCommit(skeleton.finish(tables.stats, tables.flags));
        clock.end('index');
        const mainCost = mainMeter.cost(mainWriter);
        const workers = mainWriter.files > 0 || !threads ? [mainCost, ...result.costs] : result.costs;
        return {
            plan,
            phases: clock.phases,
            workers,
            files: counts.written,
            kept: counts.kept,
            excluded: counts.excluded,
            removed: removed.count,
            bytesWritten: workers.reduce((sum, cost) => sum + cost.bytesWritten, 0),
            problems,
            failures: [...failures.entries()].sort((a, b) => a[0] - b[0]).map(([, error]) => error),
            deaths: result.deaths,
        };
    }
    finally {
        stop();
        // After a failure only; a driver that waits for its next file ends when its pipe is closed.
        await drivers.close();
        clearInterval(progress);
        mainWriter.close();
        request.signal?.removeEventListener('abort', stop);
    }
}
function sumCounters(counters, which) {
    let sum = 0;
    for (let i = which; i < counters.length; i += COUNTERS)
        sum += counters[i] ?? 0;
    return sum;
}
/** The pass over what the first one put off; null when that is nothing or the run was stopped. */
function secondPass(first, control) {
    const count = Atomics.load(control, DEFERRED);
    if (first.deferred === null || count === 0 || Atomics.load(control, STOP) !== 0)
        return null;
    const { entries, bases, baseSizes } = first.deferred;
    const families = groupFamilies(entries.subarray(0, count), bases.subarray(0, count), baseSizes.subarray(0, count));
    Atomics.store(control, NEXT_BATCH, 0);
    Atomics.store(control, READY, count);
    return { ...families, deferred: null };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/checkout-tree.js
/**
 * Brings the working tree to a commit's tree: the stages of a checkout in their order. Nothing is touched before the manifest is
 * complete and every path in it was checked; the index is written last, through its lock, which the caller holds.
 */




















/**
 * Checks the tree out.
 * @throws NeedsGit, CheckoutError; the lock is then released by the caller, and the old index stays
 */
async function checkoutTree(request) {
    const clock = new PhaseClock();
    const pool = new WorkerPool();
    try {
        const manifest = makeManifest(request, pool);
        // git cleans first, too: what is compared and written after it does not meet what was there before.
        const cleaned = request.clean === undefined ? 0 : await clock.within('clean', () => clean(request, pool));
        const prepared = checkout_tree_prepare(request, manifest, pool);
        await loadTables(request.conversionList());
        clock.end('manifest');
        if (request.fetchMissing !== undefined) {
            await fetchBlobs(request.odb, prepared.manifest.tables, request.fetchMissing);
            clock.end('fetch-missing');
        }
        stopIfAborted(request);
        request.beforeTouching?.();
        return { ...(await writeTree(request, prepared, pool, clock)), cleaned };
    }
    catch (error) {
        pool.dismiss();
        throw error;
    }
}
/** Removes what is untracked, and gives the number of files. */
async function clean(request, pool) {
    const { workTree, index, foldsNames, keep, signal, warn } = request;
    const { exclude = [], ignoreCase = false, spared = [] } = request.clean ?? {};
    return await cleanWorkTree({ workTree, tracked: trackedPaths(index), exclude, ignoreCase, foldsNames, spared, keep }, { workers: request.plan(Number.MAX_SAFE_INTEGER).workers, pool, signal, warn });
}
/** Makes the manifest; starts workers as soon as it is clear that there is work for them. */
function makeManifest(request, pool) {
    const paths = new WorktreePaths(request.workTree);
    const presence = new PathPresence(paths);
    const { rootIsEmpty } = request;
    const matcher = request.sparse?.matcher ?? null;
    const many = request.plan(Number.MAX_SAFE_INTEGER).workers;
    const known = request.index === null ? null : knownTrees(request.index);
    // Over an index most files stay, and need no conversion.
    const conversions = request.index === null ? request.conversions : null;
    const walked = manifest_buildManifest(request.odb, request.treeOid, {
        rules: request.rules,
        ...(request.maxTreeDepth === undefined ? {} : { maxDepth: request.maxTreeDepth }),
        maxPathBytes: maxPathBytes(process.platform) - paths.rootBytes,
        conversions,
        ...(known === null ? {} : { known }),
        ...(matcher === null ? {} : { sparse: matcher }),
        ...(rootIsEmpty ? {} : { hasDirectory: (path, start, end) => presence.hasDirectory(path, start, end) }),
        // With nothing on disk every entry will be written, so threads can start while trees are read.
        ...(rootIsEmpty && many > 0
            ? { many: { files: firstCountWith(request.plan, many), notify: () => pool.start(many) } }
            : {}),
    });
    const manifest = walked.isOdd ? settleOddTrees(walked, conversions, matcher) : walked;
    repairTrees(manifest, request.odb);
    const reasons = [...manifest.needsGit, ...(conversions === null ? [] : conversionReasons(request, manifest))];
    if (reasons.length > 0)
        throw new NeedsGit(reasons);
    return manifest;
}
/** Why only git can convert the files whose conversions were looked up. */
function conversionReasons(request, { tables }) {
    const conversions = request.conversionList();
    const path = pathReason(tables, conversions);
    return [
        ...conversions
            .filter(({ kind }) => kind === 'git')
            .map(({ reason }) => reason ?? 'a conversion that only git does'),
        ...(path === null ? [] : [path]),
    ];
}
/** Compares with what is there and makes the plan. */
function checkout_tree_prepare(request, manifest, pool) {
    const paths = new WorktreePaths(request.workTree);
    const { rootIsEmpty } = request;
    const comparison = request.index === null
        ? compareWithNothing(manifest.tables, request.statComparison.symlinks)
        : compareWithIndex(manifest.tables, request.index, paths, request.statComparison, request.sparse);
    const reasons = [...comparison.needsGit];
    if (request.index !== null && comparison.toWrite > 0) {
        lookUpConversions(manifest, request.conversions, request.foldsNames);
        reasons.push(...conversionReasons(request, manifest));
    }
    if (reasons.length > 0)
        throw new NeedsGit(reasons);
    const collisions = request.foldsNames ? findCollisions(manifest) : null;
    if (collisions !== null)
        keepFromWorkers(manifest.tables, collisions);
    refuseEntries(manifest.tables, request.conversionList());
    const toFilter = openFilterEntries(manifest.tables, request.conversionList(), request.lfs !== null);
    const plan = request.plan(comparison.toWrite - toFilter);
    if (plan.workers > pool.size)
        pool.start(plan.workers - pool.size);
    return { manifest, comparison, toFilter, plan, paths, rootIsEmpty, collisions };
}
/** Stops where git would, at the first file to be written that it refuses; but before anything is touched. */
function refuseEntries(tables, conversions) {
    if (!conversions.some(({ kind }) => kind === 'refused'))
        return;
    for (let entry = 0; entry < tables.count; entry++) {
        const conversion = conversions[tables.conversions[entry] ?? 0];
        const open = isForWorkers(tables.states[entry]) || tables.states[entry] === tables_State.COLLIDED;
        if (!open || conversion?.kind !== 'refused')
            continue;
        const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
        throw new engine_errors/* CheckoutError */.vd('filter-failed', `cannot write '${path}': ${conversion.reason ?? ''}`, { path });
    }
}
function keepFromWorkers(tables, { groups }) {
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        if (groups[entry] !== 0 && (state === tables_State.PENDING || state === tables_State.REPLACE))
            tables.states[entry] = tables_State.COLLIDED;
    }
}
/** The number of files from which the plan has this many workers. Plans are monotone in the files, so halving finds it. */
function firstCountWith(plan, workers) {
    let low = 0;
    let high = 1 << 20;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (plan(middle).workers >= workers)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
/** Whether nothing but .git is in the working tree. */
function isEmptyWorkTree(workTree) {
    try {
        return (0,external_node_fs_.readdirSync)(workTree).every((name) => name === '.git');
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('read', workTree, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/attributes/attribute-sets.js
/** The attributes that decide how a blob becomes a file, in the order of a set's words. */
const CONVERSION_ATTRIBUTES = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'];
/** The set in which nothing is specified. */
const NO_ATTRIBUTES = 0;
const WORDS = CONVERSION_ATTRIBUTES.length;
const FIRST_SLOTS = 64;
/** The interned sets and values of a run. */
class AttributeSets {
    #values = [null, true, false];
    #valueIds = new Map();
    #sets = [];
    // Open addressing: a slot holds 1 + the id of a set whose words are at id * WORDS.
    #words = new Int32Array(FIRST_SLOTS * WORDS);
    #slots = new Int32Array(FIRST_SLOTS);
    constructor() {
        this.find(new Int32Array(WORDS));
    }
    /** Number of sets so far; ids are 0 to count - 1. */
    get count() {
        return this.#sets.length;
    }
    /** The set of an id that `find` gave. */
    get(id) {
        const set = this.#sets[id];
        if (set === undefined)
            throw new RangeError(`no attribute set ${id}`);
        return set;
    }
    /** A small number for a value; 0 is unspecified. */
    valueId(value) {
        if (value === null)
            return 0;
        if (typeof value === 'boolean')
            return value ? 1 : 2;
        let id = this.#valueIds.get(value);
        if (id === undefined) {
            id = this.#values.length;
            this.#values.push(value);
            this.#valueIds.set(value, id);
        }
        return id;
    }
    /** The id of the set whose value ids are the first words of `words`, in the order of CONVERSION_ATTRIBUTES. */
    find(words) {
        let hash = 0;
        for (let i = 0; i < WORDS; i++)
            hash = (Math.imul(hash, 31) + words[i]) | 0;
        const mask = this.#slots.length - 1;
        for (let slot = hash & mask;; slot = (slot + 1) & mask) {
            const entry = this.#slots[slot];
            if (entry === 0)
                return this.#add(words, slot);
            const base = (entry - 1) * WORDS;
            let i = 0;
            while (i < WORDS && this.#words[base + i] === words[i])
                i++;
            if (i === WORDS)
                return entry - 1;
        }
    }
    #add(words, slot) {
        const id = this.#sets.length;
        this.#words.set(words.subarray(0, WORDS), id * WORDS);
        this.#slots[slot] = id + 1;
        const value = (word) => this.#values[words[word]];
        this.#sets.push({
            text: value(0),
            crlf: value(1),
            eol: value(2),
            ident: value(3),
            filter: value(4),
            workingTreeEncoding: value(5),
        });
        if (2 * this.#sets.length > this.#slots.length)
            this.#grow();
        return id;
    }
    #grow() {
        const slots = this.#slots.length * 2;
        const words = new Int32Array(slots * WORDS);
        words.set(this.#words);
        this.#words = words;
        this.#slots = new Int32Array(slots);
        for (let id = 0; id < this.#sets.length; id++) {
            let hash = 0;
            for (let i = 0; i < WORDS; i++)
                hash = (Math.imul(hash, 31) + words[id * WORDS + i]) | 0;
            let slot = hash & (slots - 1);
            while (this.#slots[slot] !== 0)
                slot = (slot + 1) & (slots - 1);
            this.#slots[slot] = id + 1;
        }
    }
}

;// CONCATENATED MODULE: ./build/js/engine/attributes/attribute-stack.js



const attribute_stack_SLASH = 0x2f;
const SLOTS = CONVERSION_ATTRIBUTES.length;
/** Frames with more rules than this are indexed by the last byte of the path. */
const INDEXED_FROM = 8;
const BINARY_MACRO = [
    { name: 'diff', value: false },
    { name: 'merge', value: false },
    { name: 'text', value: false },
];
const NO_RULES = { rules: [], macros: new Map() };
class AttributeStack {
    /** The sets that `resolve` gives ids of. */
    sets;
    #sources;
    #directories = [];
    /** Directories of the stack that have live rules. */
    #liveDirectories = 0;
    #info = null;
    #global = null;
    #system = null;
    // The macros in force, as of the root directory's file. Slots of live attributes: first the six, then the macros.
    #slots = new Map();
    /** By slot, what the attribute expands to when it is set. */
    #expansions = [];
    /** The pairs of all programs. */
    #pairs = [];
    #compiled = new WeakMap();
    // State of one resolution, kept to allocate nothing: by slot 0 while undecided, else 1 + value id.
    #decided = new Int32Array(SLOTS);
    #words = new Int32Array(SLOTS);
    #undecided = 0;
    #pending = [];
    #pendingAt = [];
    constructor(sources) {
        this.#sources = sources;
        this.sets = sources.sets ?? new AttributeSets();
        this.#setMacros(null);
    }
    /**
     * Goes into a directory: the root first, then one below the directory entered last. `rules` are what its
     * .gitattributes says, null without one. `pathLength` is the length in bytes of the directory's path with its trailing
     * slash: 0 for the root, 4 for `src/`. Directories without a file need not be entered.
     */
    enterDirectory(rules, pathLength) {
        if (pathLength === 0)
            this.#setMacros(rules);
        const frame = rules === null ? null : this.#compile(rules);
        this.#directories.push({ rules, pathLength, frame });
        if (frame !== null)
            this.#liveDirectories++;
    }
    /** Leaves the directory entered last. */
    leaveDirectory() {
        const left = this.#directories.pop();
        if (left === undefined)
            throw new RangeError('no directory to leave');
        if (left.frame !== null)
            this.#liveDirectories--;
        if (left.pathLength === 0)
            this.#setMacros(null);
    }
    /**
     * The attributes of the file whose path, from the root of the working tree, is `path[start, end)`: the id of a set in
     * `sets`. The file must lie in the directory entered last, or below it where no gitattributes file intervenes.
     */
    resolve(path, start, end) {
        if (this.#liveDirectories === 0 && this.#info === null && this.#global === null && this.#system === null) {
            return NO_ATTRIBUTES;
        }
        let name = end;
        while (name > start && path[name - 1] !== attribute_stack_SLASH)
            name--;
        this.#decided.fill(0);
        this.#undecided = SLOTS;
        if (this.#info !== null)
            this.#apply(this.#info, path, start, name, end);
        if (this.#liveDirectories > 0) {
            for (let i = this.#directories.length - 1; i >= 0 && this.#undecided > 0; i--) {
                const directory = this.#directories[i];
                if (directory.frame !== null)
                    this.#apply(directory.frame, path, start + directory.pathLength, name, end);
            }
        }
        if (this.#global !== null)
            this.#apply(this.#global, path, start, name, end);
        if (this.#system !== null)
            this.#apply(this.#system, path, start, name, end);
        if (this.#undecided === SLOTS)
            return NO_ATTRIBUTES;
        const words = this.#words;
        for (let i = 0; i < SLOTS; i++) {
            const decided = this.#decided[i];
            words[i] = decided === 0 ? 0 : decided - 1;
        }
        return this.sets.find(words);
    }
    #apply(frame, path, base, name, end) {
        const { patterns, programs } = frame;
        if (frame.byLastByte === null) {
            for (let i = 0; i < patterns.length && this.#undecided > 0; i++) {
                if (matchPattern(patterns[i], path, base, name, end))
                    this.#run(programs[i]);
            }
            return;
        }
        const candidates = frame.byLastByte[path[end - 1]];
        for (let i = 0; i < candidates.length && this.#undecided > 0; i++) {
            const rule = candidates[i];
            if (matchPattern(patterns[rule], path, base, name, end))
                this.#run(programs[rule]);
        }
    }
    /**
     * Decides what is still undecided by a program. A macro that becomes set is expanded at once, before the program's
     * less important pairs; a chain of macros can be as long as a file, so the way back is kept here, not on the call stack.
     */
    #run(program) {
        const pairs = this.#pairs;
        const decided = this.#decided;
        let depth = 0;
        let { start: at, end } = program;
        for (;;) {
            while (at < end) {
                const slot = pairs[at];
                const value = pairs[at + 1];
                at += 2;
                if (decided[slot] !== 0)
                    continue;
                decided[slot] = value;
                if (slot < SLOTS && --this.#undecided === 0)
                    return;
                const expansion = value === SET ? this.#expansions[slot] : null;
                if (expansion !== null) {
                    if (at < end) {
                        this.#pending[depth] = program;
                        this.#pendingAt[depth++] = at;
                    }
                    program = expansion;
                    at = program.start;
                    end = program.end;
                }
            }
            if (depth === 0)
                return;
            program = this.#pending[--depth];
            at = this.#pendingAt[depth];
            end = program.end;
        }
    }
    /** Takes up the macros of all sources together with those of the root directory's file, and compiles by them. */
    #setMacros(root) {
        const { info, global, system } = this.#sources;
        const macros = new Map([['binary', BINARY_MACRO]]);
        for (const source of [system, global, root, info]) {
            source?.macros.forEach((assignments, name) => macros.set(name, assignments));
        }
        this.#slots = liveSlots(macros);
        this.#pairs = [];
        this.#compiled = new WeakMap();
        this.#expansions = [];
        for (const name of this.#slots.keys()) {
            const macro = macros.get(name);
            const program = macro === undefined ? null : this.#program(macro);
            this.#expansions.push(program);
        }
        this.#decided = new Int32Array(this.#slots.size);
        this.#info = this.#compile(info ?? NO_RULES);
        this.#global = this.#compile(global ?? NO_RULES);
        this.#system = this.#compile(system ?? NO_RULES);
        this.#liveDirectories = 0;
        for (const directory of this.#directories) {
            directory.frame = directory.rules === null ? null : this.#compile(directory.rules);
            if (directory.frame !== null)
                this.#liveDirectories++;
        }
    }
    /** The frame of a file's live rules; null when there are none. */
    #compile(rules) {
        if (rules.rules.length === 0)
            return null;
        const known = this.#compiled.get(rules);
        if (known !== undefined)
            return known.patterns.length === 0 ? null : known;
        const patterns = [];
        const programs = [];
        for (let i = rules.rules.length - 1; i >= 0; i--) {
            const rule = rules.rules[i];
            const program = this.#program(rule.assignments);
            if (program === null)
                continue;
            const pattern = compilePattern(rule.pattern, this.#sources.ignoreCase);
            if (pattern === null)
                continue;
            patterns.push(pattern);
            programs.push(program);
        }
        const byLastByte = patterns.length > INDEXED_FROM ? indexByLastByte(patterns) : null;
        const frame = { patterns, programs, byLastByte };
        this.#compiled.set(rules, frame);
        return patterns.length === 0 ? null : frame;
    }
    /** Appends the live assignments, last written first; null when there are none. */
    #program(assignments) {
        const start = this.#pairs.length;
        for (let i = assignments.length - 1; i >= 0; i--) {
            const { name, value } = assignments[i];
            const slot = this.#slots.get(name);
            if (slot !== undefined)
                this.#pairs.push(slot, this.#wordOf(value));
        }
        return this.#pairs.length === start ? null : { start, end: this.#pairs.length };
    }
    #wordOf(value) {
        return this.sets.valueId(value) + 1;
    }
}
/** What a program holds for `true`: 1 + the id of the value. */
const SET = 2;
/** Numbers the six attributes and every macro that leads to one of them. */
function liveSlots(macros) {
    const slots = new Map();
    for (const name of CONVERSION_ATTRIBUTES)
        slots.set(name, slots.size);
    const usedBy = new Map();
    macros.forEach((assignments, macro) => {
        for (const { name } of assignments) {
            const users = usedBy.get(name);
            if (users === undefined)
                usedBy.set(name, [macro]);
            else
                users.push(macro);
        }
    });
    // A map is walked in the order of insertion, entries added on the way included.
    for (const name of slots.keys()) {
        for (const macro of usedBy.get(name) ?? [])
            if (!slots.has(macro))
                slots.set(macro, slots.size);
    }
    return slots;
}
function indexByLastByte(patterns) {
    const any = [];
    const lists = new Map();
    patterns.forEach((pattern, index) => {
        if (pattern.lastByte < 0) {
            any.push(index);
            for (const list of lists.values())
                list.push(index);
            return;
        }
        const list = lists.get(pattern.lastByte);
        if (list === undefined)
            lists.set(pattern.lastByte, [...any, index]);
        else
            list.push(index);
    });
    const fold = patterns[0].fold;
    return Array.from({ length: 256 }, (_, byte) => lists.get(fold ? foldByte(byte) : byte) ?? any);
}

;// CONCATENATED MODULE: ./build/js/engine/attributes/gitattributes.js
/** A file of this many bytes or more is ignored as a whole (git's ATTR_MAX_FILE_SIZE). */
const ATTRIBUTES_FILE_LIMIT = 100 * 1024 * 1024;
/** A line of this many bytes or more is ignored (git's ATTR_MAX_LINE_LENGTH). */
const LINE_LIMIT = 2048;
const MACRO_PREFIX = '[attr]';
const gitattributes_NAME = /^[A-Za-z0-9_.][-A-Za-z0-9_.]*$/;
/** Names that git keeps for itself since 2.44. */
const RESERVED_PREFIX = 'builtin_';
const gitattributes_NUL = 0x00;
const gitattributes_LF = 0x0a;
const gitattributes_CR = 0x0d;
const QUOTE = 0x22;
const gitattributes_BACKSLASH = 0x5c;
/**
 * Parses the content of a gitattributes file. Never fails: what git ignores is ignored. The caller leaves out a blob or
 * file of ATTRIBUTES_FILE_LIMIT bytes or more, because git then looks for the attributes elsewhere; here it gives none.
 */
function parseAttributes(bytes, options) {
    const rules = [];
    const macros = new Map();
    if (bytes.length >= ATTRIBUTES_FILE_LIMIT)
        return { rules, macros };
    let end = bytes.length;
    let start = 0;
    if (options.fromBlob) {
        // A blob ends at its first NUL, and a byte order mark is part of the first pattern.
        const nul = bytes.indexOf(gitattributes_NUL);
        if (nul >= 0)
            end = nul;
    }
    else if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
        start = 3;
    }
    while (start < end) {
        let lineEnd = bytes.indexOf(gitattributes_LF, start);
        let next = lineEnd + 1;
        if (lineEnd < 0 || lineEnd > end) {
            lineEnd = end;
            next = end;
        }
        if (!options.fromBlob) {
            // In a file, CR LF ends a line, and a NUL ends only its own line.
            if (next > lineEnd && lineEnd > start && bytes[lineEnd - 1] === gitattributes_CR)
                lineEnd--;
            const nul = bytes.subarray(start, lineEnd).indexOf(gitattributes_NUL);
            if (nul >= 0)
                lineEnd = start + nul;
        }
        if (lineEnd - start < LINE_LIMIT)
            gitattributes_parseLine(bytes, start, lineEnd, options.macros, rules, macros);
        start = next;
    }
    return { rules, macros };
}
function gitattributes_parseLine(bytes, start, end, macrosAllowed, rules, macros) {
    let at = skipBlanks(bytes, start, end);
    if (at === end || bytes[at] === 0x23)
        return;
    const first = at;
    at = skipToBlank(bytes, at, end);
    let pattern = bytes.subarray(first, at);
    if (bytes[first] === QUOTE) {
        const quoted = unquote(bytes, first, end);
        if (quoted !== null) {
            pattern = quoted.value;
            at = quoted.next;
        }
    }
    let macro = null;
    if (pattern.length > MACRO_PREFIX.length && gitattributes_latin1(pattern, 0, MACRO_PREFIX.length) === MACRO_PREFIX) {
        if (!macrosAllowed)
            return;
        const nameStart = skipBlanks(pattern, MACRO_PREFIX.length, pattern.length);
        macro = gitattributes_latin1(pattern, nameStart, skipToBlank(pattern, nameStart, pattern.length));
        if (!validName(macro))
            return;
    }
    const assignments = parseAssignments(bytes, at, end);
    if (assignments === null)
        return;
    if (macro !== null) {
        macros.set(macro, assignments);
        return;
    }
    const nul = pattern.indexOf(gitattributes_NUL);
    if (nul >= 0)
        pattern = pattern.subarray(0, nul);
    // A negative pattern is an error to git; one for directories matches no file; an empty one matches nothing.
    if (pattern.length === 0 || pattern[0] === 0x21 || pattern[pattern.length - 1] === 0x2f)
        return;
    // A copy, so that the file's bytes can be let go.
    if (assignments.length > 0)
        rules.push({ pattern: pattern.slice(), assignments });
}
/** The states in `bytes[at, end)`, or null when a name is invalid, which voids the line. */
function parseAssignments(bytes, at, end) {
    const assignments = [];
    for (at = skipBlanks(bytes, at, end); at < end; at = skipBlanks(bytes, at, end)) {
        const tokenEnd = skipToBlank(bytes, at, end);
        const token = bytes.subarray(at, tokenEnd);
        at = tokenEnd;
        const sign = token[0];
        const signed = sign === 0x2d || sign === 0x21;
        const equals = token.indexOf(0x3d);
        const name = gitattributes_latin1(token, signed ? 1 : 0, equals < 0 ? token.length : equals);
        if (!validName(name))
            return null;
        let value = true;
        if (signed)
            value = sign === 0x2d ? false : null;
        else if (equals >= 0)
            value = Buffer.from(token.subarray(equals + 1)).toString('utf8');
        assignments.push({ name, value });
    }
    return assignments;
}
function validName(name) {
    return gitattributes_NAME.test(name) && !name.startsWith(RESERVED_PREFIX);
}
function gitattributes_latin1(bytes, start, end) {
    return start < end ? Buffer.from(bytes.subarray(start, end)).toString('latin1') : '';
}
function isBlank(byte) {
    return byte === 0x20 || byte === 0x09 || byte === gitattributes_CR || byte === gitattributes_LF || byte === gitattributes_NUL;
}
function skipBlanks(bytes, at, end) {
    while (at < end && isBlank(bytes[at]) && bytes[at] !== gitattributes_NUL)
        at++;
    return at;
}
function skipToBlank(bytes, at, end) {
    while (at < end && !isBlank(bytes[at]))
        at++;
    return at;
}
const gitattributes_ESCAPES = new Map([
    [0x61, 0x07],
    [0x62, 0x08],
    [0x66, 0x0c],
    [0x6e, 0x0a],
    [0x72, 0x0d],
    [0x74, 0x09],
    [0x76, 0x0b],
    [gitattributes_BACKSLASH, gitattributes_BACKSLASH],
    [QUOTE, QUOTE],
]);
/**
 * The C-style quoted string that starts at `start`, and where it ends. Null when it is not well formed: then the quote is
 * an ordinary byte of the pattern.
 */
function unquote(bytes, start, end) {
    const value = new Uint8Array(end - start);
    let length = 0;
    for (let at = start + 1; at < end; at++) {
        const byte = bytes[at];
        if (byte === QUOTE)
            return { value: value.subarray(0, length), next: at + 1 };
        if (byte !== gitattributes_BACKSLASH) {
            value[length++] = byte;
            continue;
        }
        const code = at + 1 < end ? bytes[++at] : -1;
        const escape = gitattributes_ESCAPES.get(code);
        if (escape !== undefined) {
            value[length++] = escape;
            continue;
        }
        const second = at + 1 < end ? bytes[++at] : -1;
        const third = at + 1 < end ? bytes[++at] : -1;
        if (code < 0x30 || code > 0x33 || !isOctal(second) || !isOctal(third))
            return null;
        value[length++] = ((code - 0x30) << 6) | ((second - 0x30) << 3) | (third - 0x30);
    }
    return null;
}
function isOctal(byte) {
    return byte >= 0x30 && byte <= 0x37;
}

;// CONCATENATED MODULE: ./build/js/engine/filter/encodings.js
/**
 * Which encodings of `working-tree-encoding` we write, by the names that git's iconv knows them by. Each one here was compared with
 * GNU libc's iconv, character by character (test/git/conversion/encodings.test.ts); a name that is not here is left to git.
 * See docs/decisions/encodings.md.
 */
function unicode(unit, bigEndian, bom) {
    return { kind: 'unicode', unit, bigEndian, bom };
}
/** Names by which GNU libc knows a table, in capitals; the first one is iconv-lite's as well. */
const TABLES = [
    ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16].map((n) => [`ISO-8859-${n}`, `ISO8859-${n}`, `ISO_8859-${n}`]),
    ...[11, 13].map((n) => [`ISO-8859-${n}`, `ISO8859-${n}`]),
    ...[1250, 1251, 1252, 1253, 1254, 1256, 1257].map((n) => [`WINDOWS-${n}`, `CP${n}`]),
    ...[437, 850, 852, 855, 857, 860, 861, 862, 863, 865, 866, 869].map((n) => [`CP${n}`, `IBM${n}`]),
    ['KOI8-R'],
    ['KOI8-U'],
    ['CP874'],
    ['TIS-620', 'TIS620'],
    ['CP936'],
    ['CP949', 'UHC'],
    ['SHIFT_JIS', 'SHIFT-JIS', 'SJIS'],
    ['EUC-JP', 'EUCJP'],
    ['EUC-KR', 'EUCKR'],
];
const TABLE_BY_NAME = new Map(TABLES.flatMap((names) => names.map((name) => [name, names[0] ?? name])));
/** Names of tables, for the test that compares each. */
const TABLE_NAMES = [...TABLE_BY_NAME.keys()];
/** The bare names do not say the order of bytes: GNU libc takes the machine's, which is little-endian; others big-endian. */
const UNICODE = /^UTF-?(16|32)(LE|BE)?(-BOM)?$/;
const LATIN1 = new Set(['ISO-8859-1', 'ISO8859-1', 'ISO_8859-1', 'LATIN1', 'LATIN-1', 'L1']);
const ASCII = new Set(['US-ASCII', 'ASCII']);
/**
 * The encoding of a name; null for one that we leave to git.
 * @param glibc whether iconv is that of GNU libc; of others only what all agree on is taken
 */
function encodingOf(name, glibc) {
    const capitals = name.toUpperCase();
    const [match, bits, order, mark] = UNICODE.exec(capitals) ?? [];
    if (match !== undefined) {
        // git itself adds the mark of these two, and of no others.
        if (mark !== undefined && (bits !== '16' || order === undefined))
            return null;
        const bigEndian = order === undefined ? !glibc : order === 'BE';
        return unicode(bits === '16' ? 2 : 4, bigEndian, order === undefined || mark !== undefined);
    }
    if (LATIN1.has(capitals))
        return { kind: 'bytes', limit: 0x100 };
    if (ASCII.has(capitals))
        return { kind: 'bytes', limit: 0x80 };
    const table = glibc ? TABLE_BY_NAME.get(capitals) : undefined;
    return table === undefined ? null : { kind: 'table', table };
}
/** Whether this process, and so git, runs on GNU libc. Takes some milliseconds: to be asked only where it matters. */
function hasGlibc() {
    if (process.platform !== 'linux')
        return false;
    known ??= readsGlibc();
    return known;
}
let known = null;
function readsGlibc() {
    // Looking up the names of network interfaces could take seconds. The types do not have it yet.
    const report = process.report;
    const before = report.excludeNetwork ?? false;
    report.excludeNetwork = true;
    const { header } = report.getReport();
    report.excludeNetwork = before;
    return header?.glibcVersionRuntime !== undefined;
}

;// CONCATENATED MODULE: ./build/js/engine/filter/conversion.js



/**
 * Takes the facts about conversion out of a configuration.
 *
 * @throws CheckoutError 'config-invalid' for a value that makes git stop: core.autocrlf that is neither a boolean nor
 * `input`, a filter command without a value
 */
function readConversionConfig(config, platform) {
    const filters = new Map();
    for (const name of config.subsections('filter')) {
        const command = (key) => {
            const values = config.getAll(`filter.${name}.${key}`);
            if (values.includes(null)) {
                const option = `filter.${name}.${key}`;
                throw new engine_errors/* CheckoutError */.vd('config-invalid', `'${option}' has no value`, { option });
            }
            return values.at(-1) ?? undefined;
        };
        const smudge = command('smudge');
        const clean = command('clean');
        const process = command('process');
        filters.set(name, {
            ...(smudge === undefined ? {} : { smudge }),
            ...(clean === undefined ? {} : { clean }),
            ...(process === undefined ? {} : { process }),
            required: config.getBool(`filter.${name}.required`) ?? false,
        });
    }
    const eol = config.getAll('core.eol').at(-1)?.toLowerCase();
    return {
        autocrlf: autocrlfOf(config.getBoolOrText('core.autocrlf')),
        eol: eol === 'lf' || eol === 'crlf' ? eol : 'native',
        nativeEol: platform === 'win32' ? 'crlf' : 'lf',
        // Asked for only where a file has an encoding.
        get glibc() {
            return hasGlibc();
        },
        runsDrivers: platform !== 'win32',
        filters,
    };
}
function autocrlfOf(value) {
    if (value === undefined)
        return 'false';
    if (typeof value === 'boolean')
        return value ? 'true' : 'false';
    if (value.toLowerCase() === 'input')
        return 'input';
    throw new engine_errors/* CheckoutError */.vd('config-invalid', "the value of 'core.autocrlf' is neither a boolean nor 'input'", {
        option: 'core.autocrlf',
    });
}
/** Numbers of conversions fit a byte. The last one stands for all that have no other. */
const MOST_CONVERSIONS = 256;
const TOO_MANY = handedToGit(`more than ${MOST_CONVERSIONS - 1} different conversions`);
/** Conversions by number, found by attribute set. */
class ConversionTable {
    /** By number; 0 is the one that changes nothing. Grows while sets are looked up. */
    conversions = [{ kind: 'none', crlf: 'none', ident: false }];
    #config;
    #sets;
    #bySet = [];
    constructor(config, sets) {
        this.#config = config;
        this.#sets = sets;
    }
    /** The number (below 256) of the conversion for an id of the attribute sets. */
    fromAttributes(set) {
        return this.#bySet[set] ?? this.#add(set);
    }
    #add(set) {
        // Sets are numbered in the order in which they are met, so the list has no holes.
        for (let id = this.#bySet.length; id <= set; id++) {
            this.#bySet.push(this.#number(conversionFor(this.#sets.get(id), this.#config)));
        }
        return this.#bySet[set];
    }
    #number(conversion) {
        const known = this.conversions.findIndex((each) => same(each, conversion));
        if (known >= 0)
            return known;
        if (this.conversions.length === MOST_CONVERSIONS)
            return MOST_CONVERSIONS - 1;
        return this.conversions.push(this.conversions.length === MOST_CONVERSIONS - 1 ? TOO_MANY : conversion) - 1;
    }
}
function same(a, b) {
    return (a.kind === b.kind &&
        a.crlf === b.crlf &&
        a.ident === b.ident &&
        a.reason === b.reason &&
        JSON.stringify(a.encoding) === JSON.stringify(b.encoding) &&
        // A driver's name says all else about it.
        a.driver?.name === b.driver?.name);
}
/** The conversion at checkout of a file with these attributes. Pure. */
function conversionFor(attributes, config) {
    const action = eolAction(attributes, config);
    const crlfOutput = action === 'text-crlf' || action === 'auto-crlf' || (isOpen(action) && textEolIsCrlf(config));
    const isAuto = action === 'auto' || action === 'auto-crlf';
    const crlf = crlfOutput ? (isAuto ? 'auto' : 'text') : 'none';
    const ident = attributes.ident === true;
    if (attributes.workingTreeEncoding === true)
        return conversion_refused('its working-tree-encoding has no value');
    const named = attributes.workingTreeEncoding;
    let encoding;
    // To git an unset one is as an empty one.
    if (typeof named === 'string' && named !== '' && !/^utf-?8$/i.test(named)) {
        encoding = encodingOf(named, config.glibc) ?? undefined;
        if (encoding === undefined)
            return handedToGit(`working-tree-encoding '${named}'`);
    }
    const encoded = encoding === undefined ? {} : { encoding };
    const name = attributes.filter;
    const settings = typeof name === 'string' ? config.filters.get(name) : undefined;
    let inCore = isAuto || encoding !== undefined;
    if (settings !== undefined) {
        const { process, smudge, clean, required } = settings;
        // A process that is set, be it empty, keeps smudge from being used.
        const command = process ?? smudge ?? '';
        if (command !== '') {
            if (!config.runsDrivers)
                return handedToGit(`filter driver '${String(name)}' runs a command`);
            const longRunning = process !== undefined;
            // A pointer that was encoded is none.
            const lfs = encoding === undefined ? lfsCommand(command, longRunning) : null;
            const driver = { name: String(name), command, longRunning, required, ...(lfs === null ? {} : { lfs }) };
            return { kind: 'filter', crlf, ident, ...encoded, driver };
        }
        inCore ||= process !== undefined || smudge !== undefined || clean !== undefined;
        // What git streams never comes to the place where it would notice.
        if (required && inCore)
            return conversion_refused(`filter driver '${String(name)}' is required and has no command`);
    }
    if (encoding !== undefined)
        return { kind: 'in-core', crlf, ident, encoding };
    if (crlf === 'none' && !ident)
        return { kind: 'none', crlf, ident };
    // Line ends alone come out the same either way, so they are streamed whatever git's class.
    return { kind: crlf === 'auto' || (ident && inCore) ? 'in-core' : 'stream', crlf, ident };
}
function handedToGit(reason) {
    return { kind: 'git', crlf: 'none', ident: false, reason };
}
function conversion_refused(reason) {
    return { kind: 'refused', crlf: 'none', ident: false, reason };
}
function isOpen(action) {
    return action === 'text' || action === 'auto';
}
function eolAction(attributes, config) {
    const action = textAction(attributes.text) ?? textAction(attributes.crlf);
    if (action === 'binary')
        return action;
    const { eol } = attributes;
    if (eol === 'lf')
        return action === 'auto' ? 'auto-lf' : 'text-lf';
    if (eol === 'crlf')
        return action === 'auto' ? 'auto-crlf' : 'text-crlf';
    if (action !== null)
        return action;
    if (config.autocrlf === 'false')
        return 'binary';
    return config.autocrlf === 'true' ? 'auto-crlf' : 'auto-lf';
}
function textAction(value) {
    if (value === true)
        return 'text';
    if (value === false)
        return 'binary';
    if (value === 'input')
        return 'text-lf';
    return value === 'auto' ? 'auto' : null;
}
/** core.autocrlf overrides core.eol both ways. */
function textEolIsCrlf({ autocrlf, eol, nativeEol }) {
    if (autocrlf !== 'false')
        return autocrlf === 'true';
    return (eol === 'native' ? nativeEol : eol) === 'crlf';
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/conversion-lookup.js
/**
 * Finds the conversion of each file while the manifest walks the trees: reads the .gitattributes of each directory from the new tree, and
 * from the working tree where the new tree has none (an untracked one counts, as with git).
 */








const conversion_lookup_NAME = Buffer.from('.gitattributes');
const NAME_IN_TREE = Buffer.from(' .gitattributes\0');
const { O_NOFOLLOW = 0, O_NONBLOCK: conversion_lookup_O_NONBLOCK = 0 } = external_node_fs_.constants;
/** A named pipe must not make us wait for a writer, as it does git. */
const READ_NO_FOLLOW = external_node_fs_.constants.O_RDONLY | O_NOFOLLOW | conversion_lookup_O_NONBLOCK;
class AttributeConversions {
    #odb;
    #stack;
    #table;
    #worktree;
    #paths;
    /** @param worktree null when nothing is in the working tree yet */
    constructor(odb, config, locations, ignoreCase, worktree) {
        this.#odb = odb;
        this.#stack = new AttributeStack({
            info: readRules(locations.info),
            global: locations.global === null ? null : readRules(locations.global),
            system: locations.system === null ? null : readRules(locations.system),
            ignoreCase,
        });
        this.#table = new ConversionTable(config, this.#stack.sets);
        this.#worktree = worktree;
        this.#paths = worktree === null ? null : new WorktreePaths(worktree.workTree);
    }
    /** By number; complete when the manifest is. */
    get conversions() {
        return this.#table.conversions;
    }
    enterDirectory(tree, path) {
        const pathLength = path.length === 0 ? 0 : path.length + 1;
        const rules = this.#fromTree(tree, pathLength === 0) ?? this.#fromWorktree(path);
        this.#stack.enterDirectory(rules, pathLength);
    }
    leaveDirectory() {
        this.#stack.leaveDirectory();
    }
    lookUp(path, start, end) {
        return this.#table.fromAttributes(this.#stack.resolve(path, start, end));
    }
    #fromTree(tree, isRoot) {
        // A native search first: few trees have the file, and the ids of the others rarely look like it.
        if (bufferOver(tree.bytes).indexOf(NAME_IN_TREE) < 0)
            return null;
        tree.rewind();
        while (tree.next() === 1) {
            // The mode does not matter: of a link, the target's text counts, and of a submodule there is no object.
            if (!bufferOver(tree.bytes, tree.nameStart, tree.nameEnd).equals(conversion_lookup_NAME))
                continue;
            let content;
            try {
                content = this.#odb.read(tree.bytes, tree.oidAt);
            }
            catch (error) {
                // git goes on without the rules; the file itself will fail to be written, and say so.
                if (error instanceof engine_errors/* CheckoutError */.vd && error.code === 'object-missing')
                    return null;
                // Too large to be read is too large to be heeded.
                const { size } = this.#odb.reader;
                if (error instanceof engine_errors/* CheckoutError */.vd && error.code === 'memory' && size >= ATTRIBUTES_FILE_LIMIT)
                    return null;
                throw error;
            }
            if (this.#odb.reader.type !== BLOB || content.length >= ATTRIBUTES_FILE_LIMIT) {
                this.#odb.reader.finish();
                return null;
            }
            const rules = parseAttributes(content, { fromBlob: true, macros: isRoot });
            this.#odb.reader.finish();
            return rules;
        }
        return null;
    }
    #fromWorktree(directory) {
        if (this.#worktree === null || this.#paths === null)
            return null;
        const path = directory.length === 0 ? conversion_lookup_NAME : Buffer.concat([bufferOver(directory), Buffer.from('/'), conversion_lookup_NAME]);
        const absolute = this.#paths.absolute(path, 0, path.length);
        let fd;
        try {
            // Most directories have none, and an exception for each would cost five times as much as this look.
            if ((0,external_node_fs_.lstatSync)(absolute, { throwIfNoEntry: false }) === undefined)
                return null;
            fd = (0,external_node_fs_.openSync)(absolute, READ_NO_FOLLOW);
        }
        catch {
            // Not there, a link, or not readable: git goes on without it.
            return null;
        }
        try {
            const stat = (0,external_node_fs_.fstatSync)(fd);
            if (!stat.isFile() || stat.size >= ATTRIBUTES_FILE_LIMIT || this.#worktree.isTracked(path))
                return null;
            const content = Buffer.alloc(stat.size);
            const read = (0,external_node_fs_.readSync)(fd, content, 0, stat.size, 0);
            return parseAttributes(content.subarray(0, read), { fromBlob: false, macros: directory.length === 0 });
        }
        finally {
            (0,external_node_fs_.closeSync)(fd);
        }
    }
}
/** Rules of a file outside of the working tree; null when there is none, or one so large that git does not read it. */
function readRules(path) {
    let fd;
    try {
        fd = (0,external_node_fs_.openSync)(path, external_node_fs_.constants.O_RDONLY);
    }
    catch (error) {
        const errno = (0,engine_errors/* errnoOf */.UQ)(error);
        if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'EACCES')
            return null;
        throw (0,engine_errors/* ioError */.bD)('read', path, error);
    }
    try {
        const stat = (0,external_node_fs_.fstatSync)(fd);
        if (stat.isDirectory() || stat.size >= ATTRIBUTES_FILE_LIMIT)
            return null;
        const content = readUpTo(fd, stat.isFile() ? stat.size : 0);
        return content === null ? null : parseAttributes(content, { fromBlob: false, macros: true });
    }
    catch (error) {
        throw (0,engine_errors/* ioError */.bD)('read', path, error);
    }
    finally {
        (0,external_node_fs_.closeSync)(fd);
    }
}
/** Reads to the end, of a pipe or a device too; null when that is too far away. */
function readUpTo(fd, expectedBytes) {
    let bytes = Buffer.alloc(expectedBytes + 1);
    for (let length = 0;;) {
        if (length === bytes.length)
            bytes = Buffer.concat([bytes, Buffer.alloc(Math.max(length, 4096))]);
        const read = (0,external_node_fs_.readSync)(fd, bytes, length, bytes.length - length, null);
        length += read;
        if (length >= ATTRIBUTES_FILE_LIMIT)
            return null;
        if (read === 0)
            return bytes.subarray(0, length);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/config/environment.js
/** A variable that git reads as a boolean (GIT_ATTR_NOSYSTEM): unset, empty, 0, false, no and off are false. */
function environmentFlag(environment, name) {
    const value = environment[name];
    return value !== undefined && !/^(|0+|false|no|off)$/i.test(value);
}

;// CONCATENATED MODULE: ./build/js/engine/config/attribute-files.js
/**
 * Which attribute files lie outside of a repository (gitattributes(5), "FILES"): the user's and the system's.
 */


/**
 * Where git looks for attributes besides the repository. The system's file lies beside the system's configuration file;
 * where that one has no setting, git's own folder tells: git puts it into `etc` of its prefix, and into /etc for /usr.
 *
 * @throws CheckoutError 'config-invalid' when core.attributesFile is not a path
 */
function attributeFiles(facts) {
    return { global: globalFile(facts), system: systemFile(facts) };
}
function globalFile({ config, environment }) {
    const configured = config.getPath('core.attributesFile', environment);
    // An empty path names no file.
    if (configured !== undefined)
        return configured === '' ? null : configured;
    const xdg = environment['XDG_CONFIG_HOME'];
    if (xdg !== undefined && xdg !== '')
        return `${xdg}/git/attributes`;
    const home = environment['HOME'] ?? environment['USERPROFILE'];
    return home === undefined ? null : `${home}/.config/git/attributes`;
}
function systemFile({ config, environment, platform, gitProgram }) {
    if (environmentFlag(environment, 'GIT_ATTR_NOSYSTEM'))
        return null;
    const path = platform === 'win32' ? external_node_path_.win32 : external_node_path_.posix;
    // GIT_CONFIG_SYSTEM moves the configuration alone.
    if (config.systemFile !== null && environment['GIT_CONFIG_SYSTEM'] === undefined) {
        return path.join(path.dirname(config.systemFile), 'gitattributes');
    }
    if (gitProgram === null)
        return platform === 'win32' ? null : '/etc/gitattributes';
    const prefix = path.dirname(path.dirname(gitProgram));
    if (platform === 'win32') {
        // Git\cmd\git.exe, Git\bin\git.exe or Git\mingw64\bin\git.exe; the file is Git\etc\gitattributes.
        const root = /^(mingw|ucrt|clang|usr)/i.test(path.basename(prefix)) ? path.dirname(prefix) : prefix;
        return path.join(root, 'etc', 'gitattributes');
    }
    return prefix === '/usr' || prefix === '/' ? '/etc/gitattributes' : path.join(prefix, 'etc', 'gitattributes');
}

;// CONCATENATED MODULE: ./build/js/engine/config/symlinks.js
/**
 * What core.symlinks says, or git's own default: links everywhere but on Windows, where few accounts may make them and only
 * MSYS=winsymlinks:nativestrict says that this one does.
 * @throws CheckoutError config-invalid
 */
function makesLinks(config, environment, platform) {
    const configured = config.getBool('core.symlinks');
    if (configured !== undefined || platform !== 'win32')
        return configured ?? true;
    return environment['MSYS']?.includes('winsymlinks:nativestrict') === true;
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/promised.js
/**
 * Brings objects that a partial clone lacks from its promisor remotes (git-fetch(1), "partial clone"): all that are wanted in one
 * request, by the same `git fetch` that git runs for itself when an object is missing.
 */






/**
 * Waits before the second and the third try: a server that is restarted or a connection that was lost is mostly back by then,
 * and who is offline for longer is told within a few seconds.
 */
const RETRY_DELAYS_MS = [500, 2500];
/** What a later try may mend; a repository that is not there or a refused token stays so. */
const TRANSIENT = /Could not resolve host|Failed to connect|Connection (refused|reset|closed|timed out)|timed out|Temporary failure|early EOF|hung up unexpectedly|unexpected disconnect|RPC failed|returned error: (408|429|5\d\d)|\bcurl \d+ |TLS|SSL_|invalid index-pack output/i;
/**
 * The remotes that have promised objects, in the order in which git asks them: that of extensions.partialClone last. Empty where
 * the repository is no partial clone, or fetching is switched off (GIT_NO_LAZY_FETCH).
 */
function promisorRemotes(config, environment) {
    if (parseConfigBool(environment['GIT_NO_LAZY_FETCH'] ?? 'false') === true)
        return [];
    const remotes = config.subsections('remote').filter((name) => config.getBool(`remote.${name}.promisor`) === true);
    const last = config.get('extensions.partialClone');
    return last === undefined || last === '' ? remotes : [...remotes.filter((name) => name !== last), last];
}
/**
 * Fetches objects, from one remote after another until nothing is missing.
 * @param missing hexadecimal ids of what is still missing; looks anew each time
 * @throws CheckoutError authentication-failed, fetch-failed and others of the last remote; object-missing when all answered
 *   and something is still not there
 */
async function fetchPromised(facts, missing) {
    let failure = null;
    for (const remote of facts.remotes) {
        const wanted = missing();
        if (wanted.length === 0)
            return;
        try {
            await fetchFrom(facts, remote, wanted);
        }
        catch (error) {
            if (!(error instanceof engine_errors/* CheckoutError */.vd) || error.code === 'interrupted')
                throw error;
            failure = error;
        }
    }
    const [oid, ...others] = missing();
    if (oid === undefined)
        return;
    if (failure !== null)
        throw failure;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    throw new engine_errors/* CheckoutError */.vd('object-missing', `object ${oid} is missing, and no promisor remote sent it${more}`, { oid });
}
async function fetchFrom(facts, remote, oids) {
    const { ports, signal, retryDelaysMs: delays = RETRY_DELAYS_MS } = facts;
    const redact = redact_redactor(facts.env);
    const from = redact(remote);
    const objects = oids.length === 1 ? 'object' : 'objects';
    ports.observer.info(`fetching ${oids.length} missing ${objects} from '${from}'`);
    // Sorted, as git sends them.
    const input = Buffer.from([...oids].sort().join('\n') + '\n');
    for (let attempt = 0;; attempt++) {
        const result = await ports.git({
            args: [
                ...facts.gitOptions,
                ...NO_MAINTENANCE,
                // What is here already is of no interest: the objects are named one by one.
                '-c',
                'fetch.negotiationAlgorithm=noop',
                'fetch',
                '--quiet',
                '--no-tags',
                '--no-write-fetch-head',
                '--recurse-submodules=no',
                '--filter=blob:none',
                '--stdin',
                '--',
                remote,
            ],
            cwd: facts.cwd,
            env: { ...fetch_FETCH_ENVIRONMENT, ...facts.env },
            input,
            ...(signal === undefined ? {} : { signal }),
        });
        if (result.exitCode === 0)
            return;
        const error = fetch_error_fetchError(result.stderr, result.exitCode, `fetch of missing objects from '${from}'`, redact);
        const delay = delays[attempt];
        if (delay === undefined || error.code !== 'fetch-failed' || !TRANSIENT.test(result.stderr))
            throw error;
        ports.observer.warning(`${error.message}; trying again`);
        await (0,promises_namespaceObject.setTimeout)(delay, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/gitdir/child-environment.js
/**
 * The environment that git gives to the commands it runs: where the repository is, the configuration of the command line, and its
 * own programs found first. Filter drivers are often git commands themselves and rely on it.
 */



/**
 * The environment of a command that runs at the top of the working tree. Pure, but that the links in the directory's path
 * are followed.
 */
function childEnvironment({ repository, location, environment, execPath }) {
    const { gitDir, workTree } = repository;
    const named = [location.gitDir, location.workTree, environment['GIT_DIR'], environment['GIT_WORK_TREE']];
    const discovered = named.every((each) => each === undefined);
    const path = environment['PATH'];
    const parameters = configParameters(location, environment['GIT_CONFIG_PARAMETERS']);
    return {
        ...environment,
        GIT_EXEC_PATH: execPath,
        GIT_PREFIX: discovered ? prefix(workTree, location.directory) : '',
        PATH: path === undefined || path === '' ? execPath : `${execPath}${external_node_path_.delimiter}${path}`,
        ...(parameters === '' ? {} : { GIT_CONFIG_PARAMETERS: parameters }),
        // Where .git is in its usual place, git leaves it to be found again.
        ...(discovered && gitDir === (0,external_node_path_.join)(workTree, '.git') ? {} : { GIT_DIR: gitDir }),
        ...(discovered ? {} : { GIT_WORK_TREE: '.' }),
    };
}
/** git's form of `-c KEY=VALUE` for those that it starts, after what it was itself started with. */
function configParameters(location, inherited) {
    const own = git_options_configArgs(location.config ?? [])
        .filter((argument) => argument !== '-c')
        .map((argument) => {
        const at = argument.indexOf('=');
        return `${child_environment_quoted(argument.slice(0, at))}=${child_environment_quoted(argument.slice(at + 1))}`;
    });
    return [...(inherited === undefined || inherited === '' ? [] : [inherited]), ...own].join(' ');
}
function child_environment_quoted(text) {
    return `'${text.replace(/['!]/g, "'\\$&'")}'`;
}
/** The directory that the user is in, from the top of the working tree, with a slash at its end. */
function prefix(workTree, directory) {
    let real;
    try {
        real = external_node_fs_.realpathSync.native(directory);
    }
    catch {
        // It was removed by this very checkout.
        return '';
    }
    const below = (0,external_node_path_.relative)(workTree, real);
    return below === '' || below === '..' || below.startsWith(`..${external_node_path_.sep}`) ? '' : `${below.split(external_node_path_.sep).join('/')}/`;
}

;// CONCATENATED MODULE: ./build/js/engine/index/index-lock.js
/**
 * `index.lock`: how git's programs keep out of each other's way. The lock is the file that becomes the index, so taking
 * it is an exclusive create, and committing it is a rename; whoever finds it there fails at once and touches nothing.
 */





/** How many symbolic links from the index to its true place are followed; as many as git follows. */
const MOST_LINKS = 5;
/** Waits in milliseconds before a rename is tried again on Windows, where a reader of the old index makes it fail. */
const RENAME_WAITS = [0, 1, 10, 20, 40];
/**
 * The lock of one index file. Take it before reading the index. Everything is synchronous, so `release` can run in a
 * signal handler; it also runs when the process (or this thread) exits.
 */
class IndexLock {
    /** The index file itself, behind symbolic links. */
    indexPath;
    lockPath;
    /** Null once closed. */
    descriptor;
    held = true;
    releaseAtExit = () => this.release();
    constructor(indexPath, lockPath, descriptor) {
        this.indexPath = indexPath;
        this.lockPath = lockPath;
        this.descriptor = descriptor;
        process.once('exit', this.releaseAtExit);
    }
    /**
     * Creates `<indexPath>.lock`, or that of the file which indexPath is a symbolic link to. The new index has mode 0666
     * less the umask, or what `permissions` say.
     *
     * @throws CheckoutError index-locked when another process holds it, io otherwise
     */
    static acquire(indexPath, permissions = null) {
        const target = behindLinks(indexPath);
        const lockPath = `${target}.lock`;
        let lock = null;
        try {
            lock = new IndexLock(target, lockPath, (0,external_node_fs_.openSync)(lockPath, 'wx', 0o666));
            shareFile(lockPath, permissions);
            return lock;
        }
        catch (error) {
            lock?.release();
            if ((0,engine_errors/* errnoOf */.UQ)(error) !== 'EEXIST')
                throw (0,engine_errors/* ioError */.bD)('create', lockPath, error);
            throw new engine_errors/* CheckoutError */.vd('index-locked', `the index is locked: '${lockPath}' exists. Another git process may be running; if none is, one ended early: remove the file`, { path: lockPath, errno: 'EEXIST' }, error);
        }
    }
    /**
     * Writes the new index and puts it in place. On failure the lock is gone and the old index as it was.
     *
     * @throws CheckoutError io
     */
    writeAndCommit(content) {
        const descriptor = this.descriptor;
        if (!this.held || descriptor === null)
            throw new Error('BUG in parallel-checkout: the index lock is not held');
        try {
            for (let at = 0; at < content.length;) {
                at += (0,external_node_fs_.writeSync)(descriptor, content, at, Math.min(content.length - at, MOST_AT_ONCE));
            }
            this.descriptor = null;
            (0,external_node_fs_.closeSync)(descriptor);
            this.rename();
        }
        catch (error) {
            this.release();
            throw (0,engine_errors/* ioError */.bD)('write the index', this.indexPath, error);
        }
        this.held = false;
        process.off('exit', this.releaseAtExit);
    }
    /** Gives the lock up and leaves the index as it was. Does nothing after `writeAndCommit` or a second time. */
    release() {
        if (!this.held)
            return;
        this.held = false;
        process.off('exit', this.releaseAtExit);
        const descriptor = this.descriptor;
        this.descriptor = null;
        if (descriptor !== null)
            quietly(() => (0,external_node_fs_.closeSync)(descriptor));
        quietly(() => (0,external_node_fs_.unlinkSync)(this.lockPath));
    }
    rename() {
        for (let attempt = 0;; attempt++) {
            try {
                (0,external_node_fs_.renameSync)(this.lockPath, this.indexPath);
                return;
            }
            catch (error) {
                const busy = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes((0,engine_errors/* errnoOf */.UQ)(error) ?? '');
                if (!busy || attempt === RENAME_WAITS.length)
                    throw error;
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RENAME_WAITS[attempt]);
            }
        }
    }
}
/** Follows symbolic links by hand, since the file at the end need not exist. */
function behindLinks(path) {
    let current = path;
    for (let links = 0; links < MOST_LINKS; links++) {
        let target;
        try {
            target = (0,external_node_fs_.readlinkSync)(current);
        }
        catch (error) {
            // Not a link, or nothing there yet. UNKNOWN is what Windows says of some files that are no links.
            if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes((0,engine_errors/* errnoOf */.UQ)(error) ?? ''))
                return current;
            throw (0,engine_errors/* ioError */.bD)('read the link', current, error);
        }
        current = (0,external_node_path_.resolve)((0,external_node_path_.dirname)(current), target);
    }
    return current;
}
/** Runs what may fail without harm: there is no one left to tell, and the first error is on its way. */
function quietly(action) {
    try {
        action();
    }
    catch {
        // See above.
    }
}

;// CONCATENATED MODULE: ./build/js/engine/index/index-version.js
/**
 * Which version a new index gets. An index that is there keeps its version, whatever is configured: git converts none
 * (git-config, index.version; git(1), GIT_INDEX_VERSION).
 */
/** 4, or 2 for the older formats: whether that becomes 3 depends on the entries. What is no version counts as unset. */
function indexFormat({ old, environment, configured, manyFiles }) {
    if (old !== null)
        return old === 4 ? 4 : 2;
    // The variable wins even where it makes no sense; git then warns and takes its default.
    if (environment !== undefined)
        return /^\s*\+?0*4$/.test(environment) ? 4 : 2;
    return (configured ?? (manyFiles ? 4 : 2)) === 4 ? 4 : 2;
}

;// CONCATENATED MODULE: ./build/js/engine/plan/object-budget.js

/**
 * Unless a limit was asked for, so much for each worker. On the Linux 6.12 tree two workers with 20 MiB each took the same time as
 * with all the memory that there was, and 12 MB less at their peak; an object larger than the budget is dealt with alone.
 */
const OBJECT_MEMORY_PER_WORKER_BYTES = 20 * 2 ** 20;
/**
 * The budget for large objects, in bytes; may be 0, and then they are dealt with one at a time. Pure.
 * @param setting the memory limit that was asked for
 * @param heldBytes what the lists of files take
 */
function objectBudget(plan, setting, heldBytes) {
    const rest = Math.max(0, plan.memoryLimitBytes - plan.workers * WORKER_MEMORY_BYTES - heldBytes);
    return setting === 'auto' ? Math.min(rest, Math.max(1, plan.workers) * OBJECT_MEMORY_PER_WORKER_BYTES) : rest;
}

;// CONCATENATED MODULE: ./build/js/engine/refs/upstream.js
/**
 * Writes a branch's upstream into the repository's configuration, once the branch exists. A branch that has none yet,
 * the case of every fresh checkout, costs no process: a section is added to the file.
 */



/**
 * Sets branch.BRANCH.remote and .merge (and .rebase).
 *
 * @throws CheckoutError 'ref-locked', 'io', 'git-failed'
 */
async function writeUpstream(facts, plan) {
    const { config } = facts;
    const key = `branch.${plan.branch}`;
    const values = [
        ['remote', plan.remote],
        ['merge', plan.merge],
    ];
    if (plan.rebase)
        values.push(['rebase', 'true']);
    const wrong = values.filter(([name, value]) => {
        const present = config.getAll(`${key}.${name}`);
        return present.length !== 1 || present[0] !== value;
    });
    if (wrong.length === 0)
        return;
    if (wrong.every(([name]) => config.getAll(`${key}.${name}`).length === 0)) {
        append_section_appendToConfig((0,external_node_path_.join)(facts.dirs.commonDir, 'config'), 'branch', plan.branch, wrong);
        return;
    }
    for (const [name, value] of wrong) {
        const result = await facts.git({
            args: [...facts.gitOptions, 'config', '--local', '--replace-all', `${key}.${name}`, value],
            cwd: facts.cwd,
        });
        if (result.exitCode !== 0) {
            throw new engine_errors/* CheckoutError */.vd('git-failed', `git could not set '${key}.${name}': ${result.stderr.trim().split('\n')[0]}`);
        }
    }
}

;// CONCATENATED MODULE: ./build/js/engine/refs/remote-tracking.js
/** The refspecs of a remote that have a destination; negative and source-only ones map nothing. */
function fetchRefspecs(config, remote) {
    return config.getAll(`remote.${remote}.fetch`).flatMap((text) => {
        if (text === null || text.startsWith('^'))
            return [];
        const [source, destination] = text.replace(/^\+/, '').split(':');
        return source === undefined || destination === undefined || source === '' || destination === ''
            ? []
            : [{ source, destination }];
    });
}
/** Maps `name` through a pattern with at most one '*' on each side; null when it does not match. */
function mapByPattern(name, from, to) {
    const star = from.indexOf('*');
    if (star < 0)
        return name === from ? to : null;
    const prefix = from.slice(0, star);
    const suffix = from.slice(star + 1);
    if (name.length < prefix.length + suffix.length || !name.startsWith(prefix) || !name.endsWith(suffix))
        return null;
    // A function, since '$' in the middle part would be a pattern of String.replace.
    const middle = name.slice(prefix.length, name.length - suffix.length);
    return to.replace('*', () => middle);
}
/** Every remote branch that is fetched into `trackingRef`. */
function upstreamsOf(config, trackingRef) {
    return config.subsections('remote').flatMap((remote) => fetchRefspecs(config, remote).flatMap(({ source, destination }) => {
        const merge = mapByPattern(trackingRef, destination, source);
        return merge === null ? [] : [{ remote, merge }];
    }));
}
/** Where each remote's branch `branch` is kept here, whether or not that ref exists. */
function trackingRefsOf(config, branch) {
    return config.subsections('remote').flatMap((remote) => fetchRefspecs(config, remote).flatMap(({ source, destination }) => {
        const ref = mapByPattern(`refs/heads/${branch}`, source, destination);
        return ref === null ? [] : [{ remote, ref }];
    }));
}
/**
 * The upstream that `git checkout -B branch start` sets when `start` names the ref `startRef` (git-config(1),
 * branch.autoSetupMerge and branch.autoSetupRebase); null for none.
 */
function planUpstream(config, branch, startRef) {
    const mode = config.getBoolOrText('branch.autoSetupMerge') ?? true;
    if (startRef === null || mode === false)
        return null;
    const text = typeof mode === 'string' ? mode.toLowerCase() : '';
    if (text === 'inherit') {
        // Only a branch has an upstream to hand on.
        if (!startRef.startsWith('refs/heads/'))
            return null;
        const parent = startRef.slice('refs/heads/'.length);
        const remote = config.get(`branch.${parent}.remote`);
        const merge = config.get(`branch.${parent}.merge`);
        if (remote === undefined || merge === undefined)
            return null;
        return { branch, remote, merge, rebase: rebases(config, remote === '.') };
    }
    const upstreams = upstreamsOf(config, startRef);
    const upstream = upstreams[0];
    // More than one remote could be meant: git tracks none of them.
    if (upstreams.length > 1)
        return null;
    if (upstream === undefined) {
        if (text !== 'always' || !startRef.startsWith('refs/heads/') || startRef === `refs/heads/${branch}`)
            return null;
        return { branch, remote: '.', merge: startRef, rebase: rebases(config, true) };
    }
    if (text === 'simple' && upstream.merge !== `refs/heads/${branch}`)
        return null;
    return { branch, ...upstream, rebase: rebases(config, false) };
}
function rebases(config, local) {
    const mode = config.get('branch.autoSetupRebase') ?? 'never';
    return mode === 'always' || mode === (local ? 'local' : 'remote');
}

;// CONCATENATED MODULE: ./build/js/engine/refs/revision.js





/** Longest text that is taken for a revision; an argument beyond it is a mistake. */
const MAX_REVISION_LENGTH = 8192;
/**
 * Resolves as `git checkout --force TEXT` does: a local branch comes first, then git's order of short names, then
 * everything else that git knows, then a branch that exactly one remote has (checkout.guess).
 *
 * @throws CheckoutError 'unknown-revision'; 'usage' for text that looks like an option
 */
async function resolveCheckoutRevision(facts, text) {
    const { dirs } = facts;
    checkText(text);
    if (text === 'HEAD' && !read_refs_refExists(dirs, 'refs/heads/HEAD')) {
        const oid = read_refs_resolveRef(dirs, 'HEAD')?.oid ?? null;
        if (oid === null)
            throw unknownRevision('HEAD', 'has no commit yet');
        return { kind: 'head', oid };
    }
    const branch = await branchFor(facts, text);
    if (branch !== null)
        return branch;
    try {
        return { kind: 'detached', ...(await resolveRevision(facts, text)) };
    }
    catch (error) {
        const guess = error instanceof engine_errors/* CheckoutError */.vd && error.code === 'unknown-revision' ? guessBranch(facts, text) : null;
        if (guess === null)
            throw error;
        return guess;
    }
}
/**
 * Resolves a revision to an object id, without a thought for branches (start points, `--detach`).
 *
 * @returns the id, and the ref that the name stands for: what the upstream of a branch that starts there is found by
 * @throws CheckoutError 'unknown-revision'; 'usage' for text that looks like an option
 */
async function resolveRevision(facts, text) {
    const { dirs } = facts;
    checkText(text);
    // A full id is itself even where a ref has this name. 40 digits are the beginning of one where ids have 64.
    if (isHexOid(text, facts.objectFormat))
        return { oid: text.toLowerCase(), refName: null };
    if (ref_names_isValidRefName(text)) {
        const packed = packedRefsOnce(dirs);
        for (const name of candidateNames(text)) {
            const found = ref_names_isValidRefName(name) ? read_refs_resolveRef(dirs, name, packed) : null;
            if (found !== null && found.oid !== null)
                return { oid: found.oid, refName: found.name };
        }
        if (text === 'HEAD')
            throw unknownRevision('HEAD', 'has no commit yet');
    }
    return { oid: await askGit(facts, text), refName: null };
}
function checkText(text) {
    if (text === '')
        throw unknownRevision(text, 'is no revision: it is empty');
    if (text.length > MAX_REVISION_LENGTH || text.includes('\0') || text.includes('\n')) {
        throw unknownRevision(text, 'is no revision');
    }
    if (text.startsWith('-') && text !== '-') {
        throw new engine_errors/* CheckoutError */.vd('usage', `'${displayName(text)}' is an option, not a revision`, {
            option: displayName(text),
        });
    }
}
/** The local branch that `text` names: literally, or as one of git's `@{-1}` forms. */
async function branchFor(facts, text) {
    let refName = ref_names_isValidBranchName(text) || text === 'HEAD' ? `refs/heads/${text}` : null;
    if (text === '-' || text.includes('@{')) {
        const answer = await revision_run(facts, ['rev-parse', '--symbolic-full-name', '--verify', '--quiet', fullForm(text)]);
        refName = answer?.startsWith('refs/heads/') === true && ref_names_isValidRefName(answer) ? answer : null;
    }
    if (refName === null)
        return null;
    const oid = read_refs_resolveRef(facts.dirs, refName)?.oid ?? null;
    return oid === null ? null : { kind: 'branch', oid, refName };
}
/** A branch that does not exist here, but at one remote, or at the one that checkout.defaultRemote names. */
function guessBranch({ config, dirs }, text) {
    if (!ref_names_isValidBranchName(text) || config.getBool('checkout.guess') === false)
        return null;
    const found = trackingRefsOf(config, text).flatMap(({ remote, ref }) => {
        const oid = ref_names_isValidRefName(ref) ? (read_refs_resolveRef(dirs, ref)?.oid ?? null) : null;
        return oid === null ? [] : [{ remote, ref, oid }];
    });
    const preferred = config.get('checkout.defaultRemote');
    const one = found.length > 1 ? found.find(({ remote }) => remote === preferred) : found[0];
    if (one === undefined) {
        if (found.length === 0)
            return null;
        const remotes = found.map(({ remote }) => displayName(remote)).join(', ');
        throw unknownRevision(text, `could be a branch of several remotes (${remotes}): set checkout.defaultRemote`);
    }
    return { kind: 'branch', oid: one.oid, refName: `refs/heads/${text}`, trackingRef: one.ref };
}
const fullForm = (text) => (text === '-' ? '@{-1}' : text);
async function askGit(facts, text) {
    const ends = /^([^:]*?)\.\.\.([^:]*)$/.exec(text);
    if (ends !== null) {
        // `git checkout A...B` means their merge base, when there is exactly one.
        const both = [ends[1], ends[2]].map((end) => (end === '' ? 'HEAD' : end));
        const bases = (await revision_run(facts, ['merge-base', '--all', '--', ...both]))?.split('\n') ?? [];
        if (bases.length !== 1)
            throw unknownRevision(text, 'has no merge base, or more than one');
        return objectId(facts, text, bases[0]);
    }
    // After ':/' everything is the text to search for.
    const expression = text.startsWith(':/') ? text : `${fullForm(text)}^{commit}`;
    const answer = await revision_run(facts, ['rev-parse', '--verify', '--quiet', expression]);
    if (answer === null)
        throw unknownRevision(text);
    return objectId(facts, text, answer);
}
function objectId({ objectFormat }, text, answer) {
    if (!isHexOid(answer, objectFormat))
        throw unknownRevision(text);
    return answer;
}
/** What git prints, or null when it fails or prints nothing. */
async function revision_run(facts, args) {
    const { signal } = facts;
    const result = await facts.git({
        args: [...facts.gitOptions, ...args],
        cwd: facts.cwd,
        env: { LC_ALL: 'C' },
        ...(signal === undefined ? {} : { signal }),
    });
    const text = result.stdout.toString('utf8').trimEnd();
    return result.exitCode === 0 && text !== '' ? text : null;
}

;// CONCATENATED MODULE: ./build/js/engine/run/resolve-target.js


async function resolveTarget(session) {
    const { request, repository, config, ports } = session;
    const facts = {
        dirs: repository,
        objectFormat: repository.objectFormat,
        config,
        git: ports.git,
        gitOptions: repository.gitOptions,
        cwd: repository.workTree,
        signal: request.signal,
    };
    const { target } = request;
    const branchFrom = (branch, start, startPoint) => ({
        oid: start.oid,
        refName: start.refName,
        change: (commit) => ({ kind: 'reset-branch', refName: `refs/heads/${branch}`, oid: commit, startPoint }),
        upstream: start.refName === null ? null : planUpstream(config, branch, start.refName),
    });
    switch (target.kind) {
        case 'branch':
            return branchFrom(target.branch, await resolveRevision(facts, target.startPoint), target.startPoint);
        case 'detach': {
            const { oid, refName } = await resolveRevision(facts, target.revision);
            return {
                oid,
                refName,
                change: (commit) => ({ kind: 'detach', oid: commit, to: target.revision }),
                upstream: null,
            };
        }
        case 'head':
        case 'revision': {
            const text = target.kind === 'head' ? 'HEAD' : target.revision;
            const found = await resolveCheckoutRevision(facts, text);
            if (found.kind === 'head')
                return { oid: found.oid, refName: null, change: null, upstream: null };
            if (found.kind === 'detached') {
                // '@{-1}' stands for what was checked out before, and it is that which the reflog names.
                const to = /^(-|@\{-[0-9]+\})$/.test(text) ? found.oid : text;
                const change = (commit) => ({ kind: 'detach', oid: commit, to });
                return { oid: found.oid, refName: found.refName, change, upstream: null };
            }
            if (found.trackingRef !== undefined) {
                const branch = found.refName.slice('refs/heads/'.length);
                return branchFrom(branch, { oid: found.oid, refName: found.trackingRef }, found.trackingRef);
            }
            const { oid, refName } = found;
            return { oid, refName, change: () => ({ kind: 'switch', refName }), upstream: null };
        }
    }
}

;// CONCATENATED MODULE: ./build/js/engine/run/native-checkout.js
/**
 * A checkout by our own engine: gathers what it depends on, holds the locks around it, and does what follows it (HEAD, hooks, upstream).
 */


































async function checkoutNatively(session, routeReasons) {
    const { request, repository, config, ports } = session;
    const environment = environment_processEnvironment();
    const target = await resolveTarget(session);
    const lock = IndexLock.acquire(repository.indexPath, parseSharedRepository(config.getAll('core.sharedRepository').at(-1)));
    let odb = null;
    const prepared = { head: null };
    try {
        const warn = (line) => ports.observer.warning(line);
        odb = open_objects_openObjects(repository, config, environment, warn, request.verify);
        const fetchMissing = missingObjectsFetch(session);
        const { commit, tree } = fetchMissing === undefined ? peel_peelToTree(odb, target.oid) : await peelPromised(odb, target.oid, fetchMissing);
        if (fetchMissing !== undefined)
            await fetchTrees(odb, tree, fetchMissing);
        const trees = odb;
        const index = read_whole_index_readWholeIndex(repository, (oids, oidAt) => readTree(trees, oids, oidAt));
        const sparse = sparse_rules_readSparseRules(repository, config, request.sparse?.kind === 'off', warn);
        if (index !== null) {
            const reasons = indexNeedsGit(index);
            if (reasons.length > 0)
                throw new NeedsGit(reasons);
        }
        const rootIsEmpty = isEmptyWorkTree(repository.workTree);
        const ignoreCase = config.getBool('core.ignoreCase') ?? false;
        const conversions = new AttributeConversions(odb, readConversionConfig(config, process.platform), {
            info: repository.attributesPath,
            ...attributeFiles({
                config,
                environment,
                platform: process.platform,
                gitProgram: findGit(environment, process.platform),
            }),
        }, ignoreCase, rootIsEmpty
            ? null
            : { workTree: repository.workTree, isTracked: (path) => index !== null && indexHas(index, path) });
        const outcome = await checkoutTree({
            odb,
            treeOid: tree,
            workTree: repository.workTree,
            rootIsEmpty,
            index,
            sparse,
            lock,
            rules: {
                ntfs: config.getBool('core.protectNTFS') ?? true,
                hfs: config.getBool('core.protectHFS') ?? process.platform === 'darwin',
                windows: process.platform === 'win32',
            },
            maxTreeDepth: config.getInt('core.maxTreeDepth'),
            statComparison: {
                trustCtime: config.getBool('core.trustCtime') ?? true,
                checkStatMinimal: config.get('core.checkStat')?.toLowerCase() === 'minimal',
                fileMode: config.getBool('core.fileMode') ?? true,
                symlinks: makesLinks(config, environment, process.platform),
                platform: process.platform,
            },
            indexFormat: indexFormat({
                old: index?.version ?? null,
                environment: environment['GIT_INDEX_VERSION'],
                configured: config.getInt('index.version'),
                manyFiles: config.getBool('feature.manyFiles') ?? false,
            }),
            ignoreStat: config.getBool('core.ignoreStat') ?? false,
            foldsNames: ignoreCase || (config.getBool('core.precomposeUnicode') ?? false) || foldsCase(repository.workTree),
            isClone: session.reflogMessage !== undefined,
            conversions,
            conversionList: () => conversions.conversions,
            lfs: lfsAccess(session, { ...environment, ...request.environment }),
            plan: (files) => session_planFor(session, files, routeReasons),
            objectBudget: (plan, heldBytes) => objectBudget(plan, request.memoryLimitBytes, heldBytes),
            ...(request.signal === undefined ? {} : { signal: request.signal }),
            onProgress: (progress) => ports.observer.progress(progress),
            warn,
            driverEnvironment: async () => childEnvironment({
                repository,
                location: request,
                environment: { ...environment, ...request.environment },
                execPath: await execPath(session),
            }),
            ref: target.refName,
            commit,
            keep: process.cwd(),
            fetchMissing,
            ...(request.clean === undefined
                ? {}
                : { clean: { exclude: request.clean.exclude, ignoreCase, spared: ownPaths(repository) } }),
            beforeTouching: () => {
                if (target.change === null)
                    return;
                prepared.head = prepareHeadUpdate({ dirs: repository, config, environment, reflogMessage: session.reflogMessage }, target.change(commit));
            },
        });
        const oldCommit = read_refs_resolveRef(repository, 'HEAD')?.oid ?? '0'.repeat(2 * repository.objectFormat.oidBytes);
        // The working tree was updated (1), and no skip-worktree bit changed (0); git heeds no exit status here.
        await hook(session, 'post-index-change', ['1', '0']);
        prepared.head?.commit();
        if (request.sparse?.kind === 'off')
            await endSparse(session);
        removeBranchState(repository.gitDir);
        if (target.upstream !== null) {
            await writeUpstream({ dirs: repository, config, git: ports.git, gitOptions: repository.gitOptions, cwd: repository.workTree }, target.upstream);
        }
        const hookStatus = await hook(session, 'post-checkout', [oldCommit, commit, '1']);
        return nativeReport(session, outcome, commit, hookStatus);
    }
    finally {
        prepared.head?.abort();
        lock.release();
        odb?.close();
    }
}
/** File systems of Linux on which two files may share blocks. */
const SHARING_FILE_SYSTEMS = ['btrfs', 'xfs', 'bcachefs'];
function lfsAccess({ repository, config, host }, environment) {
    const store = lfsStore({ storage: config.get('lfs.storage'), commonDir: repository.commonDir, environment });
    const shareBlocks = host.platform === 'linux' && SHARING_FILE_SYSTEMS.includes(host.fileSystem.type);
    return store === null ? null : { store, shareBlocks };
}
/** Where git's own programs are: those whom it starts find them first. */
async function execPath({ ports, request, repository }) {
    const result = await ports.git({
        args: ['--exec-path'],
        cwd: repository.workTree,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    if (result.exitCode !== 0)
        throw gitFailure('--exec-path', result.stderr);
    return result.stdout.toString('utf8').replace(/\r?\n$/, '');
}
/** How objects are fetched that a partial clone lacks; undefined where nobody has promised any. */
function missingObjectsFetch({ request, repository, config, ports }) {
    const remotes = promisorRemotes(config, environment_processEnvironment());
    if (remotes.length === 0)
        return undefined;
    const { gitOptions, workTree: cwd } = repository;
    const { signal, fetchEnv: env = {} } = request;
    return async (missing) => {
        await fetchPromised({ ports, gitOptions, cwd, remotes, env, signal }, missing);
    };
}
/** Runs a hook, and gives its exit status; 0 where there is none. */
async function hook(session, name, args) {
    const { request, ports, repository, config } = session;
    return await runHook(name, args, {
        repository,
        config,
        environment: environment_processEnvironment(),
        location: request,
        git: ports.git,
        signal: request.signal,
        onLine: (line) => ports.observer.info(line),
    });
}
function hookFailure(session, status) {
    if (status === 0)
        return undefined;
    return new engine_errors/* CheckoutError */.vd('hook-failed', `the post-checkout hook ended with status ${status}`, {
        // 'git checkout' makes 1 of any failure, 'git clone' ends as its hook does.
        exitStatus: session.reflogMessage === undefined ? 1 : status,
    });
}
/** What belongs to the repository and may lie among the files of the working tree. */
function ownPaths({ gitDir, commonDir, objectsDir, indexPath }) {
    return [gitDir, commonDir, objectsDir, indexPath, `${indexPath}.lock`];
}
function nativeReport(session, outcome, commit, hookStatus) {
    const { run, ports } = session;
    run.plan = outcome.plan;
    run.phases.push(...outcome.phases);
    run.commit = commit;
    for (const death of outcome.deaths)
        ports.observer.warning(death);
    const skipped = outcome.failures.map((error) => ({ path: error.subject.path ?? '', reason: error.message }));
    for (const problem of outcome.problems)
        ports.observer.warning(problem);
    const errors = [...outcome.failures, ...outcome.problems.map((line) => new engine_errors/* CheckoutError */.vd('filter-failed', line))];
    const [first] = errors;
    const more = errors.length - 1;
    const error = first === undefined
        ? hookFailure(session, hookStatus)
        : new engine_errors/* CheckoutError */.vd('write-failed', more === 0 ? first.message : `${first.message} (and ${more} more)`, first.subject, first);
    return run_state_report(run, outcome, outcome.workers, skipped, error);
}
/** Whether the index has an entry of this path: a binary search over its sorted paths. */
function indexHas(index, path) {
    let low = 0;
    let high = index.count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        const start = index.pathOffsets[middle] ?? 0;
        const end = index.pathOffsets[middle + 1] ?? 0;
        const order = Buffer.compare(index.pathBytes.subarray(start, end), path);
        if (order === 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
/** Ends the sparse checkout in the configuration, once everything has been written. */
async function endSparse({ request, repository, config, ports }) {
    if (config.getBool('core.sparseCheckout') !== true)
        return;
    const { gitDir, workTree } = repository;
    const location = { directory: workTree, gitDir, workTree, config: request.config };
    await writeSparseSettings(location, { kind: 'off' }, ports.git, request.signal);
}

;// CONCATENATED MODULE: ./build/js/engine/setting-values.js
/**
 * Reads the values of our own settings from text. The action and the command line program share them, so `workers: 4` and
 * `--workers 4` mean the same and are refused for the same reasons. Each parser is told the display name of the option
 * (`--workers`, or the input `workers`), which the message carries.
 */


/** A worker is a thread of about 10 MB; more than this many is a typing error, not a wish. */
const MAX_WORKERS = 1024;
/** Below this the scratch buffers of one worker and the pack windows do not fit. */
const MIN_MEMORY_LIMIT_BYTES = 16_000_000;
const ENGINES = ['auto', 'native', 'git'];
const TRANSPORTS = ['auto', 'stream', 'git'];
/** Letters alone are powers of 1024, as in git and Docker; `kB` is decimal and `KiB` binary, as in IEC 80000-13. */
const SIZE_UNITS = new Map([
    ['', 1],
    ['b', 1],
    ['k', 2 ** 10],
    ['kb', 1e3],
    ['kib', 2 ** 10],
    ['m', 2 ** 20],
    ['mb', 1e6],
    ['mib', 2 ** 20],
    ['g', 2 ** 30],
    ['gb', 1e9],
    ['gib', 2 ** 30],
    ['t', 2 ** 40],
    ['tb', 1e12],
    ['tib', 2 ** 40],
]);
/** How much of a refused value a message repeats. */
const SHOWN_CHARACTERS = 60;
/** `auto`, or a whole number of worker threads from 0 to {@link MAX_WORKERS}. Throws `usage` naming `option`. */
function parseWorkers(text, option) {
    const value = text.trim();
    if (value === 'auto')
        return 'auto';
    return parseWholeNumber(value, option, 0, MAX_WORKERS, "'auto' or ");
}
/**
 * `auto`, or a size as {@link parseByteSize} reads it, at least {@link MIN_MEMORY_LIMIT_BYTES}. In bytes. Throws `usage`
 * naming `option`.
 */
function parseMemoryLimit(text, option) {
    const value = text.trim();
    if (value === 'auto')
        return 'auto';
    const bytes = parseByteSize(value, option, "'auto' or ");
    if (bytes < MIN_MEMORY_LIMIT_BYTES) {
        throw new engine_errors/* CheckoutError */.vd('usage', `${option}: at least 16MB are needed, not '${shown(text)}'`, { option });
    }
    return bytes;
}
/** `auto`, `native` or `git`. Throws `usage` naming `option`. */
function parseEngineChoice(text, option) {
    return parseChoice(text, option, ENGINES);
}
/** `auto`, `stream` or `git`. Throws `usage` naming `option`. */
function parseTransportChoice(text, option) {
    return parseChoice(text, option, TRANSPORTS);
}
/**
 * A size in bytes: a number with an optional unit, in either case, such as `536870912`, `512MB` (decimal), `2GiB` or `1.5g`
 * (powers of 1024). A fraction of a byte is dropped. Throws `usage` naming `option`; `alternative` comes before the rest
 * of its message.
 */
function parseByteSize(text, option, alternative = '') {
    const match = /^(\d{1,16}(?:\.\d{1,9})?) ?([a-z]{0,3})$/i.exec(text.trim());
    const unit = match === null ? undefined : SIZE_UNITS.get(match[2].toLowerCase());
    if (match === null || unit === undefined) {
        throw new engine_errors/* CheckoutError */.vd('usage', `${option}: expected ${alternative}a size such as 512MB, 2GiB or a number of bytes, not '${shown(text)}'`, { option });
    }
    const bytes = Math.floor(Number(match[1]) * unit);
    if (!Number.isSafeInteger(bytes)) {
        throw new engine_errors/* CheckoutError */.vd('usage', `${option}: '${shown(text)}' is too large`, { option });
    }
    return bytes;
}
/** A whole number in decimal digits within [least, most]. Throws `usage` naming `option`. */
function parseWholeNumber(text, option, least, most, alternative = '') {
    const value = text.trim();
    const number = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
    if (!(number >= least && number <= most)) {
        throw new engine_errors/* CheckoutError */.vd('usage', `${option}: expected ${alternative}a whole number from ${least} to ${most}, not '${shown(text)}'`, { option });
    }
    return number;
}
function parseChoice(text, option, choices) {
    const value = text.trim();
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) {
        const list = choices.map((candidate) => `'${candidate}'`).join(', ');
        throw new engine_errors/* CheckoutError */.vd('usage', `${option}: expected one of ${list}, not '${shown(text)}'`, { option });
    }
    return choice;
}
function shown(text) {
    const characters = Array.from(text.slice(0, 2 * SHOWN_CHARACTERS));
    const cut = characters.length > SHOWN_CHARACTERS || text.length > 2 * SHOWN_CHARACTERS;
    return displayBytes(Buffer.from(characters.slice(0, SHOWN_CHARACTERS).join(''))) + (cut ? '…' : '');
}
/**
 * What a sparse checkout takes: in cone mode directories, else patterns as in a .gitignore. git refuses the same, but that
 * brackets are let through in cone mode, since there are directories called `[id]`. Throws `usage` naming `option`.
 */
function parseSparseSetting(patterns, cone, option) {
    for (const pattern of patterns) {
        const refuse = (why) => new engine_errors/* CheckoutError */.vd('usage', `${option}: ${why}`, { option });
        if (pattern.trim() === '')
            throw refuse('must not be empty');
        if (/[\r\n\0]/.test(pattern))
            throw refuse('one pattern at a time; a line break cannot be in it');
        if (cone && /^[/!]|[*?]/.test(pattern)) {
            throw refuse(`'${shown(pattern)}' is a pattern; cone mode takes directories, without a slash in front`);
        }
    }
    return { kind: cone ? 'cone' : 'no-cone', patterns };
}

;// CONCATENATED MODULE: ./build/js/engine/engine.js
/**
 * The engine's front door and the order of its stages: settings, plan, fetch, checkout, report. Nothing else is decided here.
 */




















/**
 * Brings the working tree and index to what the request's target names, from objects at hand, as `git checkout --force`
 * does.
 * @param fetched what brought the objects, for the report
 * @returns the report; on an expected failure with its `error`. Only bugs are thrown.
 */
async function checkout(request, ports, fetched) {
    return await runCheckout(request, ports, fetched);
}
/**
 * Brings objects into a repository.
 * @throws CheckoutError fetch-failed, authentication-failed, unknown-revision, interrupted, git-missing, usage
 */
async function fetch(request, ports) {
    refuseStream(request.transport);
    return await fetch_fetchByGit(request, ports);
}
/**
 * Makes a repository, fetches, and checks out.
 * @returns the report as `checkout`
 * @throws CheckoutError what keeps the repository from being made or fetched into; nothing of it is left then
 */
async function clone(request, ports) {
    refuseStream(request.transport);
    const started = performance.now();
    const cloned = await cloneByGit(request, process.cwd(), ports);
    const fetched = cloned.outcome === null ? undefined : { ...cloned.outcome, ms: performance.now() - started };
    if (cloned.target === null) {
        return report(beginRun(fetched), NOTHING, [], []);
    }
    return await runCheckout({ ...request, directory: cloned.directory, target: cloned.target }, ports, fetched, cloned.reflogMessage);
}
/**
 * Says what a checkout in a directory would do, and why: of so many files, or of those of the repository there.
 * @throws CheckoutError unsupported for an engine or transport that cannot be had here; what is wrong with the repository
 */
async function plan(request, ports) {
    refuseStream(request.transport);
    const opened = await openOrNothing(request, ports);
    const reasons = [];
    let { files } = request;
    if (files === undefined) {
        const counted = opened === null
            ? null
            : countFiles(opened.repository, opened.config, processEnvironment(), (line) => ports.observer.warning(line));
        files = counted ?? DEFAULT_PLANNED_FILES;
        if (counted === null) {
            const text = `git finds no repository here: ${files} files are assumed`;
            reasons.push({ about: 'workers', text, decided: false });
        }
    }
    if (request.bytes !== undefined) {
        const text = `${request.bytes} bytes: no bound, as a checkout does not know sizes before it reads the files`;
        reasons.push({ about: 'workers', text, decided: false });
    }
    if (opened !== null || request.engine !== 'auto') {
        reasons.push(...routeEngine(request.engine, opened === null ? [] : await whatNeedsGit(opened, ports, request.signal)).reasons);
    }
    if (request.transport === 'git')
        reasons.push({ about: 'transport', text: 'git, as asked for', decided: true });
    const host = request.hostFacts ?? probeHost({ workTree: opened?.repository.workTree ?? request.directory });
    return planFor({ request, host, config: opened?.config ?? null }, files, reasons);
}
/** The repository of a plan; null where there is none with a working tree, or no git to ask. */
async function openOrNothing(request, ports) {
    const { directory, config, signal } = request;
    try {
        return await openRepositoryAndConfig({ directory, config }, ports.git, signal);
    }
    catch (error) {
        const absent = ['not-a-repository', 'io', 'git-missing'];
        if (error instanceof CheckoutError && absent.includes(error.code))
            return null;
        throw error;
    }
}
function refuseStream(transport) {
    if (transport !== 'stream')
        return;
    throw new engine_errors/* CheckoutError */.vd('unsupported', "transport 'stream' is not built yet; use 'auto' or 'git'", {
        option: 'transport',
    });
}
async function runCheckout(request, ports, fetched, reflogMessage) {
    const run = run_state_beginRun(fetched);
    if (fetched === undefined)
        run.phases.push({ name: 'start', ms: run.startedMs });
    try {
        const location = {
            directory: request.directory,
            gitDir: request.gitDir,
            workTree: request.workTree,
            config: request.config,
        };
        // Before the configuration is read, since it changes with this.
        if (request.sparse !== undefined && request.sparse.kind !== 'off') {
            const { kind, patterns } = request.sparse;
            const setting = parseSparseSetting(patterns, kind === 'cone', 'sparse');
            await writeSparseSettings(location, setting, ports.git, request.signal);
        }
        const opened = await repository_openRepositoryAndConfig(location, ports.git, request.signal);
        const host = request.hostFacts ?? probe_host_probeHost({ workTree: opened.repository.workTree });
        const session = { request, ports, run, host, reflogMessage, ...opened };
        return await route(session);
    }
    catch (error) {
        if (!(error instanceof engine_errors/* CheckoutError */.vd))
            throw error;
        return run_state_report(run, run_state_NOTHING, [], [], error);
    }
}
/** Takes our own engine, and git where something needs it; all such things are found before anything is touched. */
async function route(session) {
    const early = route_routeEngine(session.request.engine, await whatNeedsGit(session, session.ports, session.request.signal));
    if (early.engine === 'git')
        return await checkoutByGit(session, early.reasons);
    try {
        return await checkoutNatively(session, early.reasons);
    }
    catch (error) {
        return await checkoutByGit(session, route_routeEngine(session.request.engine, reasonsForGit(error)).reasons);
    }
}
/** What the repository and its configuration have that only git can do. */
async function whatNeedsGit({ repository, config }, ports, signal) {
    const environment = environment_processEnvironment();
    const reasons = repositoryNeedsGit(repository, config, environment);
    reasons.push(...(await hooksNeedGit({ repository, config, environment }, ports.git, signal)));
    const state = stateThatNeedsGit(repository.gitDir);
    return state === null ? reasons : [...reasons, state];
}
/** What our engine found that only git can do; all other errors go on. Nothing has been touched then. */
function reasonsForGit(error) {
    if (error instanceof NeedsGit)
        return error.reasons;
    if (error instanceof engine_errors/* CheckoutError */.vd && error.code === 'unsupported')
        return [error.message];
    throw error;
}


/***/ }),

/***/ 390:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   UQ: () => (/* binding */ errnoOf),
/* harmony export */   bD: () => (/* binding */ ioError),
/* harmony export */   jr: () => (/* binding */ bug),
/* harmony export */   vd: () => (/* binding */ CheckoutError)
/* harmony export */ });
/**
 * Every failure that a user can meet, as data: a stable code, what it concerns, and the cause. Errors cross thread
 * boundaries and end up in reports, so they convert to plain JSON and back. Anything else that is thrown is a bug in
 * this program and is reported as one.
 */
/** An expected failure. `message` is one line, names its subject, and never holds a secret. */
class CheckoutError extends Error {
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
        return new CheckoutError(json.code, json.message, json.subject);
    }
}
/** The errno code of a Node system error ('ENOENT'), or undefined for anything else. */
function errnoOf(error) {
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
function ioError(action, path, error) {
    if (error instanceof CheckoutError)
        return error;
    if (error instanceof RangeError && NO_MEMORY.test(error.message)) {
        return new CheckoutError('memory', `cannot ${action} '${path}': ${error.message}`, { path }, error);
    }
    const errno = errnoOf(error);
    if (errno === undefined || WRONG_CALL.includes(errno))
        throw error;
    return new CheckoutError('io', `cannot ${action} '${path}': ${errno}`, { path, errno }, error);
}
/** A broken invariant of this program, never the user's fault. */
function bug(what) {
    return new Error(`BUG in parallel-checkout: ${what}`);
}


/***/ }),

/***/ 8093:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   B4: () => (/* binding */ formatCount),
/* harmony export */   CE: () => (/* binding */ formatRate),
/* harmony export */   LS: () => (/* binding */ plural),
/* harmony export */   _V: () => (/* binding */ formatMs),
/* harmony export */   g$: () => (/* binding */ printable),
/* harmony export */   ig: () => (/* binding */ workerName),
/* harmony export */   th: () => (/* binding */ planSentence),
/* harmony export */   z3: () => (/* binding */ formatBytes)
/* harmony export */ });
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
/** Bytes in decimal units with three digits: '512 B', '1.40 GB', '43.1 MB'. */
function formatBytes(bytes) {
    let value = sane(bytes);
    let unit = 0;
    while (unit < BYTE_UNITS.length - 1 && Math.round(value) >= 1000) {
        value /= 1000;
        unit++;
    }
    return `${unit === 0 ? Math.round(value).toString() : threeDigits(value)} ${BYTE_UNITS[unit]}`;
}
/** Milliseconds as '<1 ms', '830 ms', '3.15 s' or '12 min 04 s'. */
function formatMs(ms) {
    const value = sane(ms);
    if (value > 0 && value < 0.5)
        return '<1 ms';
    if (Math.round(value) < 1000)
        return `${Math.round(value)} ms`;
    const seconds = value / 1000;
    if (seconds < 599.5)
        return `${threeDigits(seconds)} s`;
    const whole = Math.round(seconds);
    return `${formatCount(Math.floor(whole / 60))} min ${String(whole % 60).padStart(2, '0')} s`;
}
/** A whole number with commas: '86,691'. */
function formatCount(count) {
    return Math.round(sane(count))
        .toString()
        .replace(/\B(?=(?:\d{3})+$)/g, ',');
}
/** '1 file', '2 files'. */
function plural(count, noun) {
    return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
/** What a plan comes to: 'Plan: 2 workers, memory limit 4.29 GB'. Lanes are named where there are several. */
function planSentence(plan) {
    const workers = plan.workers === 0 ? 'no worker threads' : plural(plan.workers, 'worker');
    const lanes = plan.lanes > 1 ? `, ${plural(plan.lanes, 'lane')} each` : '';
    return `Plan: ${workers}${lanes}, memory limit ${formatBytes(plan.memoryLimitBytes)}`;
}
/** Bytes a second: '520 MB/s'. */
function formatRate(bytesPerSecond) {
    return `${formatBytes(bytesPerSecond)}/s`;
}
/** How a table calls a worker. */
function workerName(worker) {
    return (worker.id === 0 ? 'main' : String(worker.id)) + (worker.died === true ? ' (died)' : '');
}
/**
 * Text that may come from a repository (paths, reasons, messages), made safe for one line of a terminal or a log: control
 * characters, line breaks, and the invisible ones that reorder or hide text become escapes; an unpaired surrogate becomes
 * U+FFFD. At most `most` characters, then '…'.
 */
function printable(text, most = 4000) {
    // Cut first, so that a text of any length costs no more than what is shown of it.
    let cut = text.length > most;
    const escaped = text
        .slice(0, most)
        .replace(/\p{Cs}/gu, '\ufffd')
        .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
        const code = character.codePointAt(0);
        return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
    });
    const shown = escaped.slice(0, most);
    cut ||= shown.length < escaped.length;
    return cut ? `${shown.replace(/\p{Cs}/gu, '\ufffd')}…` : shown;
}
function threeDigits(value) {
    if (value < 9.995)
        return value.toFixed(2);
    if (value < 99.95)
        return value.toFixed(1);
    return value.toFixed(0);
}
/** Counters are not negative; a clock that ran backwards must not make the report unreadable. */
function sane(value) {
    return Number.isFinite(value) && value > 0 ? value : 0;
}


/***/ }),

/***/ 8574:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   I: () => (/* binding */ reportToOutputs),
/* harmony export */   v: () => (/* binding */ workersUsed)
/* harmony export */ });
/** Plain decimal digits, no unit, no fraction. */
function reportToOutputs(report) {
    return {
        engine: report.engine,
        workers: String(workersUsed(report)),
        files: String(report.totals.files),
        bytes: String(report.totals.bytesWritten),
        'duration-ms': String(Math.round(report.totals.wallMs)),
        'peak-memory-bytes': String(Math.round(report.totals.peakRssBytes)),
    };
}
/** How many workers there were: threads of ours that have a row of costs, or what git was told (it reports none). */
function workersUsed(report) {
    if (report.engine === 'git')
        return report.plan.workers;
    return report.workers.filter((worker) => worker.id !== 0).length;
}


/***/ }),

/***/ 2864:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   W: () => (/* binding */ REPORT_SCHEMA_VERSION)
/* harmony export */ });
/** Raised when a key changes its meaning or goes away; new keys do not raise it. */
const REPORT_SCHEMA_VERSION = 1;


/***/ }),

/***/ 9849:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Lp: () => (/* binding */ costSentence),
/* harmony export */   X8: () => (/* binding */ groupWorkers),
/* harmony export */   ZW: () => (/* binding */ groupCost),
/* harmony export */   hv: () => (/* binding */ groupName),
/* harmony export */   wE: () => (/* binding */ workerSentence)
/* harmony export */ });
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(8093);

/** At most `most` groups of neighbours, their sizes differing by one at most. No group is empty. */
function groupWorkers(workers, most) {
    const count = Math.min(most, workers.length);
    const groups = [];
    for (let i = 0; i < count; i++) {
        groups.push(workers.slice(Math.floor((i * workers.length) / count), Math.floor(((i + 1) * workers.length) / count)));
    }
    return groups;
}
/** 'Worker 3', 'Main thread', 'Workers 1 to 8'. */
function groupName(group) {
    const first = group[0];
    const last = group.at(-1);
    if (first === undefined || last === undefined)
        return 'No workers';
    if (group.length > 1)
        return `Workers ${first.id === 0 ? 'main' : String(first.id)} to ${last.id}`;
    return first.id === 0 ? 'Main thread' : `Worker ${first.id}`;
}
/** What a group cost together: work and CPU time are sums, wall time and memory the highest of one worker. */
function groupCost(group) {
    let files = 0;
    let bytesWritten = 0;
    let wallMs = 0;
    let cpuUserMs = 0;
    let cpuSystemMs = 0;
    let waitMs = 0;
    let peakMemoryBytes = 0;
    let died = false;
    for (const worker of group) {
        files += worker.files;
        bytesWritten += worker.bytesWritten;
        cpuUserMs += worker.cpuUserMs;
        cpuSystemMs += worker.cpuSystemMs;
        waitMs += worker.waitMs;
        wallMs = Math.max(wallMs, worker.wallMs);
        peakMemoryBytes = Math.max(peakMemoryBytes, worker.peakMemoryBytes);
        died ||= worker.died === true;
    }
    return { files, bytesWritten, wallMs, cpuUserMs, cpuSystemMs, waitMs, peakMemoryBytes, ...(died ? { died } : {}) };
}
/** One worker's cost in one line. */
function workerSentence(worker) {
    return `${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .workerName */ .ig)(worker)}: ${costSentence(worker)}`;
}
/** A cost in one line, without whose it is. */
function costSentence(cost) {
    return (`${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .plural */ .LS)(cost.files, 'file')}, ${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .formatBytes */ .z3)(cost.bytesWritten)} in ${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .formatMs */ ._V)(cost.wallMs)}; ` +
        `CPU ${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .formatMs */ ._V)(cost.cpuUserMs)} user, ${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .formatMs */ ._V)(cost.cpuSystemMs)} system; ` +
        `waiting ${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .formatMs */ ._V)(cost.waitMs)}; peak memory ${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .formatBytes */ .z3)(cost.peakMemoryBytes)}`);
}


/***/ }),

/***/ 2488:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  Yz: () => (/* binding */ debug),
  N4: () => (/* binding */ endGroup),
  pq: () => (/* binding */ info),
  lm: () => (/* binding */ notice),
  LZ: () => (/* binding */ saveState),
  C1: () => (/* binding */ setFailed),
  uH: () => (/* binding */ setOutput),
  Pq: () => (/* binding */ setSecret),
  Oh: () => (/* binding */ startGroup),
  $e: () => (/* binding */ warning)
});

// UNUSED EXPORTS: ExitCode, addPath, error, exportVariable, getBooleanInput, getIDToken, getInput, getMultilineInput, getState, group, isDebug, markdownSummary, platform, setCommandEcho, summary, toPlatformPath, toPosixPath, toWin32Path

// EXTERNAL MODULE: external "os"
var external_os_ = __nccwpck_require__(857);
;// CONCATENATED MODULE: ./build/node_modules/@actions/core/lib/utils.js
// We use any as a valid input type
/* eslint-disable @typescript-eslint/no-explicit-any */
/**
 * Sanitizes an input into a string so it can be passed into issueCommand safely
 * @param input input to sanitize into a string
 */
function utils_toCommandValue(input) {
    if (input === null || input === undefined) {
        return '';
    }
    else if (typeof input === 'string' || input instanceof String) {
        return input;
    }
    return JSON.stringify(input);
}
/**
 *
 * @param annotationProperties
 * @returns The command properties to send with the actual annotation command
 * See IssueCommandProperties: https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionCommandManager.cs#L646
 */
function toCommandProperties(annotationProperties) {
    if (!Object.keys(annotationProperties).length) {
        return {};
    }
    return {
        title: annotationProperties.title,
        file: annotationProperties.file,
        line: annotationProperties.startLine,
        endLine: annotationProperties.endLine,
        col: annotationProperties.startColumn,
        endColumn: annotationProperties.endColumn
    };
}
//# sourceMappingURL=utils.js.map
;// CONCATENATED MODULE: ./build/node_modules/@actions/core/lib/command.js


/**
 * Issues a command to the GitHub Actions runner
 *
 * @param command - The command name to issue
 * @param properties - Additional properties for the command (key-value pairs)
 * @param message - The message to include with the command
 * @remarks
 * This function outputs a specially formatted string to stdout that the Actions
 * runner interprets as a command. These commands can control workflow behavior,
 * set outputs, create annotations, mask values, and more.
 *
 * Command Format:
 *   ::name key=value,key=value::message
 *
 * @example
 * ```typescript
 * // Issue a warning annotation
 * issueCommand('warning', {}, 'This is a warning message');
 * // Output: ::warning::This is a warning message
 *
 * // Set an environment variable
 * issueCommand('set-env', { name: 'MY_VAR' }, 'some value');
 * // Output: ::set-env name=MY_VAR::some value
 *
 * // Add a secret mask
 * issueCommand('add-mask', {}, 'secretValue123');
 * // Output: ::add-mask::secretValue123
 * ```
 *
 * @internal
 * This is an internal utility function that powers the public API functions
 * such as setSecret, warning, error, and exportVariable.
 */
function command_issueCommand(command, properties, message) {
    const cmd = new Command(command, properties, message);
    process.stdout.write(cmd.toString() + external_os_.EOL);
}
function command_issue(name, message = '') {
    command_issueCommand(name, {}, message);
}
const CMD_STRING = '::';
class Command {
    constructor(command, properties, message) {
        if (!command) {
            command = 'missing.command';
        }
        this.command = command;
        this.properties = properties;
        this.message = message;
    }
    toString() {
        let cmdStr = CMD_STRING + this.command;
        if (this.properties && Object.keys(this.properties).length > 0) {
            cmdStr += ' ';
            let first = true;
            for (const key in this.properties) {
                if (this.properties.hasOwnProperty(key)) {
                    const val = this.properties[key];
                    if (val) {
                        if (first) {
                            first = false;
                        }
                        else {
                            cmdStr += ',';
                        }
                        cmdStr += `${key}=${escapeProperty(val)}`;
                    }
                }
            }
        }
        cmdStr += `${CMD_STRING}${escapeData(this.message)}`;
        return cmdStr;
    }
}
function escapeData(s) {
    return utils_toCommandValue(s)
        .replace(/%/g, '%25')
        .replace(/\r/g, '%0D')
        .replace(/\n/g, '%0A');
}
function escapeProperty(s) {
    return utils_toCommandValue(s)
        .replace(/%/g, '%25')
        .replace(/\r/g, '%0D')
        .replace(/\n/g, '%0A')
        .replace(/:/g, '%3A')
        .replace(/,/g, '%2C');
}
//# sourceMappingURL=command.js.map
;// CONCATENATED MODULE: external "crypto"
const external_crypto_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("crypto");
// EXTERNAL MODULE: external "fs"
var external_fs_ = __nccwpck_require__(9896);
;// CONCATENATED MODULE: ./build/node_modules/@actions/core/lib/file-command.js
// For internal use, subject to change.
// We use any as a valid input type
/* eslint-disable @typescript-eslint/no-explicit-any */




function file_command_issueFileCommand(command, message) {
    const filePath = process.env[`GITHUB_${command}`];
    if (!filePath) {
        throw new Error(`Unable to find environment variable for file command ${command}`);
    }
    if (!external_fs_.existsSync(filePath)) {
        throw new Error(`Missing file at path: ${filePath}`);
    }
    external_fs_.appendFileSync(filePath, `${utils_toCommandValue(message)}${external_os_.EOL}`, {
        encoding: 'utf8'
    });
}
function file_command_prepareKeyValueMessage(key, value) {
    const delimiter = `ghadelimiter_${external_crypto_namespaceObject.randomUUID()}`;
    const convertedValue = utils_toCommandValue(value);
    // These should realistically never happen, but just in case someone finds a
    // way to exploit uuid generation let's not allow keys or values that contain
    // the delimiter.
    if (key.includes(delimiter)) {
        throw new Error(`Unexpected input: name should not contain the delimiter "${delimiter}"`);
    }
    if (convertedValue.includes(delimiter)) {
        throw new Error(`Unexpected input: value should not contain the delimiter "${delimiter}"`);
    }
    return `${key}<<${delimiter}${external_os_.EOL}${convertedValue}${external_os_.EOL}${delimiter}`;
}
//# sourceMappingURL=file-command.js.map
;// CONCATENATED MODULE: external "path"
const external_path_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("path");
;// CONCATENATED MODULE: ./build/node_modules/@actions/core/lib/core.js
var __awaiter = (undefined && undefined.__awaiter) || function (thisArg, _arguments, P, generator) {
    function adopt(value) { return value instanceof P ? value : new P(function (resolve) { resolve(value); }); }
    return new (P || (P = Promise))(function (resolve, reject) {
        function fulfilled(value) { try { step(generator.next(value)); } catch (e) { reject(e); } }
        function rejected(value) { try { step(generator["throw"](value)); } catch (e) { reject(e); } }
        function step(result) { result.done ? resolve(result.value) : adopt(result.value).then(fulfilled, rejected); }
        step((generator = generator.apply(thisArg, _arguments || [])).next());
    });
};






/**
 * The code to exit an action
 */
var ExitCode;
(function (ExitCode) {
    /**
     * A code indicating that the action was successful
     */
    ExitCode[ExitCode["Success"] = 0] = "Success";
    /**
     * A code indicating that the action was a failure
     */
    ExitCode[ExitCode["Failure"] = 1] = "Failure";
})(ExitCode || (ExitCode = {}));
//-----------------------------------------------------------------------
// Variables
//-----------------------------------------------------------------------
/**
 * Sets env variable for this action and future actions in the job
 * @param name the name of the variable to set
 * @param val the value of the variable. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function exportVariable(name, val) {
    const convertedVal = toCommandValue(val);
    process.env[name] = convertedVal;
    const filePath = process.env['GITHUB_ENV'] || '';
    if (filePath) {
        return issueFileCommand('ENV', prepareKeyValueMessage(name, val));
    }
    issueCommand('set-env', { name }, convertedVal);
}
/**
 * Registers a secret which will get masked from logs
 *
 * @param secret - Value of the secret to be masked
 * @remarks
 * This function instructs the Actions runner to mask the specified value in any
 * logs produced during the workflow run. Once registered, the secret value will
 * be replaced with asterisks (***) whenever it appears in console output, logs,
 * or error messages.
 *
 * This is useful for protecting sensitive information such as:
 * - API keys
 * - Access tokens
 * - Authentication credentials
 * - URL parameters containing signatures (SAS tokens)
 *
 * Note that masking only affects future logs; any previous appearances of the
 * secret in logs before calling this function will remain unmasked.
 *
 * @example
 * ```typescript
 * // Register an API token as a secret
 * const apiToken = "abc123xyz456";
 * setSecret(apiToken);
 *
 * // Now any logs containing this value will show *** instead
 * console.log(`Using token: ${apiToken}`); // Outputs: "Using token: ***"
 * ```
 */
function setSecret(secret) {
    command_issueCommand('add-mask', {}, secret);
}
/**
 * Prepends inputPath to the PATH (for this action and future actions)
 * @param inputPath
 */
function addPath(inputPath) {
    const filePath = process.env['GITHUB_PATH'] || '';
    if (filePath) {
        issueFileCommand('PATH', inputPath);
    }
    else {
        issueCommand('add-path', {}, inputPath);
    }
    process.env['PATH'] = `${inputPath}${path.delimiter}${process.env['PATH']}`;
}
/**
 * Gets the value of an input.
 * Unless trimWhitespace is set to false in InputOptions, the value is also trimmed.
 * Returns an empty string if the value is not defined.
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   string
 */
function getInput(name, options) {
    const val = process.env[`INPUT_${name.replace(/ /g, '_').toUpperCase()}`] || '';
    if (options && options.required && !val) {
        throw new Error(`Input required and not supplied: ${name}`);
    }
    if (options && options.trimWhitespace === false) {
        return val;
    }
    return val.trim();
}
/**
 * Gets the values of an multiline input.  Each value is also trimmed.
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   string[]
 *
 */
function getMultilineInput(name, options) {
    const inputs = getInput(name, options)
        .split('\n')
        .filter(x => x !== '');
    if (options && options.trimWhitespace === false) {
        return inputs;
    }
    return inputs.map(input => input.trim());
}
/**
 * Gets the input value of the boolean type in the YAML 1.2 "core schema" specification.
 * Support boolean input list: `true | True | TRUE | false | False | FALSE` .
 * The return value is also in boolean type.
 * ref: https://yaml.org/spec/1.2/spec.html#id2804923
 *
 * @param     name     name of the input to get
 * @param     options  optional. See InputOptions.
 * @returns   boolean
 */
function getBooleanInput(name, options) {
    const trueValue = ['true', 'True', 'TRUE'];
    const falseValue = ['false', 'False', 'FALSE'];
    const val = getInput(name, options);
    if (trueValue.includes(val))
        return true;
    if (falseValue.includes(val))
        return false;
    throw new TypeError(`Input does not meet YAML 1.2 "Core Schema" specification: ${name}\n` +
        `Support boolean input list: \`true | True | TRUE | false | False | FALSE\``);
}
/**
 * Sets the value of an output.
 *
 * @param     name     name of the output to set
 * @param     value    value to store. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function setOutput(name, value) {
    const filePath = process.env['GITHUB_OUTPUT'] || '';
    if (filePath) {
        return file_command_issueFileCommand('OUTPUT', file_command_prepareKeyValueMessage(name, value));
    }
    process.stdout.write(external_os_.EOL);
    command_issueCommand('set-output', { name }, utils_toCommandValue(value));
}
/**
 * Enables or disables the echoing of commands into stdout for the rest of the step.
 * Echoing is disabled by default if ACTIONS_STEP_DEBUG is not set.
 *
 */
function setCommandEcho(enabled) {
    issue('echo', enabled ? 'on' : 'off');
}
//-----------------------------------------------------------------------
// Results
//-----------------------------------------------------------------------
/**
 * Sets the action status to failed.
 * When the action exits it will be with an exit code of 1
 * @param message add error issue message
 */
function setFailed(message) {
    process.exitCode = ExitCode.Failure;
    error(message);
}
//-----------------------------------------------------------------------
// Logging Commands
//-----------------------------------------------------------------------
/**
 * Gets whether Actions Step Debug is on or not
 */
function isDebug() {
    return process.env['RUNNER_DEBUG'] === '1';
}
/**
 * Writes debug message to user log
 * @param message debug message
 */
function debug(message) {
    command_issueCommand('debug', {}, message);
}
/**
 * Adds an error issue
 * @param message error issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function error(message, properties = {}) {
    command_issueCommand('error', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a warning issue
 * @param message warning issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function warning(message, properties = {}) {
    command_issueCommand('warning', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a notice issue
 * @param message notice issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function notice(message, properties = {}) {
    command_issueCommand('notice', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Writes info to log with console.log.
 * @param message info message
 */
function info(message) {
    process.stdout.write(message + external_os_.EOL);
}
/**
 * Begin an output group.
 *
 * Output until the next `groupEnd` will be foldable in this group
 *
 * @param name The name of the output group
 */
function startGroup(name) {
    command_issue('group', name);
}
/**
 * End an output group.
 */
function endGroup() {
    command_issue('endgroup');
}
/**
 * Wrap an asynchronous function call in a group.
 *
 * Returns the same type as the function itself.
 *
 * @param name The name of the group
 * @param fn The function to wrap in the group
 */
function group(name, fn) {
    return __awaiter(this, void 0, void 0, function* () {
        startGroup(name);
        let result;
        try {
            result = yield fn();
        }
        finally {
            endGroup();
        }
        return result;
    });
}
//-----------------------------------------------------------------------
// Wrapper action state
//-----------------------------------------------------------------------
/**
 * Saves state for current action, the state can only be retrieved by this action's post job execution.
 *
 * @param     name     name of the state to store
 * @param     value    value to store. Non-string values will be converted to a string via JSON.stringify
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function saveState(name, value) {
    const filePath = process.env['GITHUB_STATE'] || '';
    if (filePath) {
        return file_command_issueFileCommand('STATE', file_command_prepareKeyValueMessage(name, value));
    }
    command_issueCommand('save-state', { name }, utils_toCommandValue(value));
}
/**
 * Gets the value of an state set by this action's main execution.
 *
 * @param     name     name of the state to get
 * @returns   string
 */
function getState(name) {
    return process.env[`STATE_${name}`] || '';
}
function getIDToken(aud) {
    return __awaiter(this, void 0, void 0, function* () {
        return yield OidcClient.getIDToken(aud);
    });
}
/**
 * Summary exports
 */

/**
 * @deprecated use core.summary
 */

/**
 * Path exports
 */

/**
 * Platform utilities exports
 */

//# sourceMappingURL=core.js.map

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
/******/ /* webpack/runtime/async module */
/******/ (() => {
/******/ 	var webpackQueues = typeof Symbol === "function" ? Symbol("webpack queues") : "__webpack_queues__";
/******/ 	var webpackExports = typeof Symbol === "function" ? Symbol("webpack exports") : "__webpack_exports__";
/******/ 	var webpackError = typeof Symbol === "function" ? Symbol("webpack error") : "__webpack_error__";
/******/ 	var resolveQueue = (queue) => {
/******/ 		if(queue && queue.d < 1) {
/******/ 			queue.d = 1;
/******/ 			queue.forEach((fn) => (fn.r--));
/******/ 			queue.forEach((fn) => (fn.r-- ? fn.r++ : fn()));
/******/ 		}
/******/ 	}
/******/ 	var wrapDeps = (deps) => (deps.map((dep) => {
/******/ 		if(dep !== null && typeof dep === "object") {
/******/ 			if(dep[webpackQueues]) return dep;
/******/ 			if(dep.then) {
/******/ 				var queue = [];
/******/ 				queue.d = 0;
/******/ 				dep.then((r) => {
/******/ 					obj[webpackExports] = r;
/******/ 					resolveQueue(queue);
/******/ 				}, (e) => {
/******/ 					obj[webpackError] = e;
/******/ 					resolveQueue(queue);
/******/ 				});
/******/ 				var obj = {};
/******/ 				obj[webpackQueues] = (fn) => (fn(queue));
/******/ 				return obj;
/******/ 			}
/******/ 		}
/******/ 		var ret = {};
/******/ 		ret[webpackQueues] = x => {};
/******/ 		ret[webpackExports] = dep;
/******/ 		return ret;
/******/ 	}));
/******/ 	__nccwpck_require__.a = (module, body, hasAwait) => {
/******/ 		var queue;
/******/ 		hasAwait && ((queue = []).d = -1);
/******/ 		var depQueues = new Set();
/******/ 		var exports = module.exports;
/******/ 		var currentDeps;
/******/ 		var outerResolve;
/******/ 		var reject;
/******/ 		var promise = new Promise((resolve, rej) => {
/******/ 			reject = rej;
/******/ 			outerResolve = resolve;
/******/ 		});
/******/ 		promise[webpackExports] = exports;
/******/ 		promise[webpackQueues] = (fn) => (queue && fn(queue), depQueues.forEach(fn), promise["catch"](x => {}));
/******/ 		module.exports = promise;
/******/ 		body((deps) => {
/******/ 			currentDeps = wrapDeps(deps);
/******/ 			var fn;
/******/ 			var getResult = () => (currentDeps.map((d) => {
/******/ 				if(d[webpackError]) throw d[webpackError];
/******/ 				return d[webpackExports];
/******/ 			}))
/******/ 			var promise = new Promise((resolve) => {
/******/ 				fn = () => (resolve(getResult));
/******/ 				fn.r = 0;
/******/ 				var fnQueue = (q) => (q !== queue && !depQueues.has(q) && (depQueues.add(q), q && !q.d && (fn.r++, q.push(fn))));
/******/ 				currentDeps.map((dep) => (dep[webpackQueues](fnQueue)));
/******/ 			});
/******/ 			return fn.r ? promise : getResult();
/******/ 		}, (err) => ((err ? reject(promise[webpackError] = err) : outerResolve(exports)), resolveQueue(queue)));
/******/ 		queue && queue.d < 0 && (queue.d = 0);
/******/ 	};
/******/ })();
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
/******/ 
/******/ // startup
/******/ // Load entry module and return exports
/******/ // This entry module used 'module' so it can't be inlined
/******/ var __webpack_exports__ = __nccwpck_require__(2764);
/******/ __webpack_exports__ = await __webpack_exports__;
/******/ 
