import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
/******/ var __webpack_modules__ = ({

/***/ 896:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("fs");

/***/ }),

/***/ 598:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:crypto");

/***/ }),

/***/ 24:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");

/***/ }),

/***/ 161:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:os");

/***/ }),

/***/ 760:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");

/***/ }),

/***/ 857:
/***/ ((module) => {

module.exports = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("os");

/***/ }),

/***/ 787:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  c: () => (/* binding */ publishAnnotations)
});

// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(488);
// EXTERNAL MODULE: ./build/js/engine/report/format.js
var format = __nccwpck_require__(93);
// EXTERNAL MODULE: ./build/js/engine/report/outputs.js
var outputs = __nccwpck_require__(574);
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
        ['removed', plural(totals.removed, 'file')],
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
var worker_groups = __nccwpck_require__(849);
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

/***/ 658:
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
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
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

/***/ 447:
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
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(598);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(390);
/* harmony import */ var _config_file_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(658);
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

/***/ 177:
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

/***/ 745:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   W2: () => (/* binding */ credentialEnvironmentHint),
/* harmony export */   _K: () => (/* binding */ gitEnvironment),
/* harmony export */   bZ: () => (/* binding */ loggedGit),
/* harmony export */   q_: () => (/* binding */ gitText),
/* harmony export */   tv: () => (/* binding */ gitFailure)
/* harmony export */ });
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(488);
/* harmony import */ var _engine_engine_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(94);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(390);
/* harmony import */ var _log_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(872);
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

/***/ 640:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   j: () => (/* binding */ readEvent),
/* harmony export */   s: () => (/* binding */ readSettings)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(760);
/* harmony import */ var _engine_engine_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(94);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(390);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(604);
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
/** Stops at inputs that are declared for compatibility and do nothing yet, if they ask for something. */
function refuseInputsNotBuilt(environment) {
    const given = (name) => input(environment, name) !== '';
    const upper = (name) => input(environment, name).toUpperCase();
    const asked = [
        ['ssh-key', given('ssh-key')],
        ['ssh-known-hosts', given('ssh-known-hosts')],
        ['ssh-strict', given('ssh-strict') && upper('ssh-strict') !== 'TRUE'],
        ['ssh-user', given('ssh-user') && input(environment, 'ssh-user') !== 'git'],
        ['filter', given('filter')],
        ['sparse-checkout', given('sparse-checkout')],
        ['sparse-checkout-cone-mode', given('sparse-checkout-cone-mode') && upper('sparse-checkout-cone-mode') !== 'TRUE'],
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
        fetchDepth: fetchDepth(environment, warnings),
        fetchTags: flag(environment, 'fetch-tags', false, warnings),
        showProgress: flag(environment, 'show-progress', true, warnings),
        setSafeDirectory: flag(environment, 'set-safe-directory', true, warnings),
        workers: (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseWorkers */ .jO)(input(environment, 'workers') || 'auto', 'workers'),
        memoryLimitBytes: (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseMemoryLimit */ .Ik)(input(environment, 'memory-limit') || 'auto', 'memory-limit'),
        engine: (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_2__/* .parseEngineChoice */ .xC)(input(environment, 'engine') || 'auto', 'engine'),
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

/***/ 872:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  Kw: () => (/* binding */ harmlessLine),
  QT: () => (/* binding */ logGroup),
  BP: () => (/* binding */ logLine),
  JH: () => (/* binding */ logObserver)
});

// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(488);
// EXTERNAL MODULE: ./build/js/engine/report/format.js
var format = __nccwpck_require__(93);
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

/***/ 764:
/***/ ((__webpack_module__, __unused_webpack___webpack_exports__, __nccwpck_require__) => {

__nccwpck_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
/* harmony import */ var node_os__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(161);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(760);
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_15__ = __nccwpck_require__(488);
/* harmony import */ var _engine_engine_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(94);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(390);
/* harmony import */ var _annotations_js__WEBPACK_IMPORTED_MODULE_18__ = __nccwpck_require__(787);
/* harmony import */ var _credentials_js__WEBPACK_IMPORTED_MODULE_5__ = __nccwpck_require__(447);
/* harmony import */ var _fork_guard_js__WEBPACK_IMPORTED_MODULE_6__ = __nccwpck_require__(177);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_7__ = __nccwpck_require__(745);
/* harmony import */ var _inputs_js__WEBPACK_IMPORTED_MODULE_8__ = __nccwpck_require__(640);
/* harmony import */ var _log_js__WEBPACK_IMPORTED_MODULE_16__ = __nccwpck_require__(872);
/* harmony import */ var _outputs_js__WEBPACK_IMPORTED_MODULE_9__ = __nccwpck_require__(741);
/* harmony import */ var _prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__ = __nccwpck_require__(96);
/* harmony import */ var _problem_matcher_js__WEBPACK_IMPORTED_MODULE_11__ = __nccwpck_require__(413);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_12__ = __nccwpck_require__(604);
/* harmony import */ var _remote_js__WEBPACK_IMPORTED_MODULE_13__ = __nccwpck_require__(731);
/* harmony import */ var _safe_directory_js__WEBPACK_IMPORTED_MODULE_14__ = __nccwpck_require__(418);
/* harmony import */ var _state_js__WEBPACK_IMPORTED_MODULE_17__ = __nccwpck_require__(480);
/* harmony import */ var _summary_js__WEBPACK_IMPORTED_MODULE_19__ = __nccwpck_require__(34);
/**
 * The step: reads the inputs, has the engine fetch and check out, publishes what came of it. The order of the stages is
 * here, and so is the exit code; nothing else in the action sets it.
 */




















/** A reused repository turned out not to be usable. */
class Unusable extends Error {
}
/** Failures of a reused repository that a new one would not have. */
const GONE_WITH_A_NEW_REPOSITORY = new Set(['object-missing', 'object-corrupt', 'tree-invalid', 'index-corrupt']);
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
async function setUpRepository(step, reused) {
    const { settings, gitDir, credentialsPath } = step;
    // Only the length of a commit id tells beforehand that a repository is SHA-256.
    const commit = settings.form !== null && 'commit' in settings.form ? settings.form.commit : '';
    if (!reused)
        await (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .initRepository */ .zY)(step.git, settings.repositoryPath, commit.length === 64 ? 'sha256' : 'sha1');
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
    const { settings, git } = step;
    // Cleaning touches the working tree and fetching the git directory, so they run side by side.
    const cleaning = reused && settings.clean ? (0,_prepare_directory_js__WEBPACK_IMPORTED_MODULE_10__/* .cleanWorkingTree */ .JY)(git) : null;
    // It is awaited below; until then a failure must not count as one that nobody handles.
    cleaning?.catch(() => undefined);
    let fetched;
    let unusable = null;
    try {
        fetched = await (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logGroup */ .QT)('Fetching', () => fetchCommits(step));
    }
    finally {
        if (cleaning !== null)
            unusable = await cleaning;
    }
    if (unusable !== null)
        throw new Unusable(unusable);
    const report = await (0,_log_js__WEBPACK_IMPORTED_MODULE_16__/* .logGroup */ .QT)('Checking out', () => (0,_engine_engine_js__WEBPACK_IMPORTED_MODULE_3__/* .checkout */ .Pt)({
        directory: settings.repositoryPath,
        target: (0,_ref_js__WEBPACK_IMPORTED_MODULE_12__/* .checkoutTarget */ .uG)(fetched.form, fetched.remote),
        workers: settings.workers,
        memoryLimitBytes: settings.memoryLimitBytes,
        engine: settings.engine,
        transport: settings.transport,
        config: [],
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

/***/ 741:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  A: () => (/* binding */ publishError),
  e: () => (/* binding */ publishOutputs)
});

// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __nccwpck_require__(598);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __nccwpck_require__(24);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __nccwpck_require__(760);
// EXTERNAL MODULE: ./build/node_modules/@actions/core/lib/core.js + 5 modules
var core = __nccwpck_require__(488);
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
var outputs = __nccwpck_require__(574);
// EXTERNAL MODULE: ./build/js/engine/report/report.js
var report = __nccwpck_require__(864);
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

/***/ 96:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Bl: () => (/* binding */ configureRepository),
/* harmony export */   JY: () => (/* binding */ cleanWorkingTree),
/* harmony export */   Oh: () => (/* binding */ makeDirectory),
/* harmony export */   hK: () => (/* binding */ emptyDirectory),
/* harmony export */   j6: () => (/* binding */ reuseRepository),
/* harmony export */   zY: () => (/* binding */ initRepository)
/* harmony export */ });
/* unused harmony exports removeStaleLocks, planRefChanges */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(390);
/* harmony import */ var _config_file_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(658);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(745);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_5__ = __nccwpck_require__(604);
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
/** Locks that killed git processes left; `config.lock` or `HEAD.lock` alone would fail every later run. */
function removeStaleLocks(gitDir) {
    const removed = [];
    const sweep = (directory, recursive) => {
        let entries;
        try {
            entries = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(directory, { withFileTypes: true });
        }
        catch (error) {
            if ((0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .errnoOf */ .UQ)(error) === 'ENOENT' || (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .errnoOf */ .UQ)(error) === 'ENOTDIR')
                return;
            throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('read', directory, error);
        }
        for (const entry of entries) {
            const path = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, entry.name);
            if (entry.isDirectory()) {
                if (recursive)
                    sweep(path, true);
            }
            else if (entry.name.endsWith('.lock')) {
                try {
                    (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(path, { force: true });
                }
                catch (error) {
                    throw (0,_engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .ioError */ .bD)('remove', path, error);
                }
                removed.push(path);
            }
        }
    };
    sweep(gitDir, false);
    sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'refs'), true);
    for (const place of ['objects', 'objects/pack', 'objects/info', 'objects/info/commit-graphs', 'reftable']) {
        sweep((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, place), false);
    }
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
 * Ends the sparse checkout of an earlier run, in the configuration of the repository and of its main working tree. True
 * if one was on, so that the index has entries marked as not to be written.
 */
function endSparseCheckout(gitDir) {
    let wasOn = false;
    const worktreeConfig = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config.worktree');
    const end = (text) => (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .removeVariables */ .Qw)(text, (variable) => {
        const key = `${variable.section}.${variable.name}`;
        if (variable.subsection !== null || !SPARSE_KEYS.has(key))
            return false;
        if (key === 'core.sparsecheckout' && !/^(?:false|no|off|0|)$/i.test(variable.value ?? 'true'))
            wasOn = true;
        return true;
    });
    (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .editConfigFile */ .T3)(worktreeConfig, end);
    const rest = (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .readConfigFile */ .RG)(worktreeConfig);
    // The extension stays where something else needs it.
    const needed = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'worktrees')) || (rest !== null && (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .configVariables */ .sz)(rest).length > 0);
    (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .editConfigFile */ .T3)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'config'), (text) => (0,_config_file_js__WEBPACK_IMPORTED_MODULE_3__/* .removeVariables */ .Qw)(end(text), ({ section, name }) => !needed && section === 'extensions' && name === 'worktreeconfig'));
    return wasOn;
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
        removeStaleLocks(gitDir);
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
        if (endSparseCheckout(gitDir)) {
            // Reads the index anew, without the marks that keep files from being written.
            await (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitText */ .q_)(request.git, { args: ['read-tree', 'HEAD'] }, 'cannot end its sparse checkout');
        }
        return null;
    }
    catch (error) {
        // These say nothing about the repository, which must not be thrown away for them.
        if (!(error instanceof _engine_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .CheckoutError */ .vd) || error.code === 'interrupted' || error.code === 'git-missing')
            throw error;
        return { reason: error.message, expected: false };
    }
}
/** Removes untracked and ignored files and directories. Returns why that failed, or null. */
async function cleanWorkingTree(git) {
    const result = await git({ args: ['clean', '-ffdxq'] });
    return result.exitCode === 0 ? null : (0,_git_js__WEBPACK_IMPORTED_MODULE_4__/* .gitFailure */ .tv)('it cannot be cleaned', result).message;
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

/***/ 413:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ removeProblemMatcher),
/* harmony export */   b: () => (/* binding */ addProblemMatcher)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(24);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(760);
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

/***/ 604:
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

/***/ 731:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   E4: () => (/* binding */ lookUpRemoteName),
/* harmony export */   Ku: () => (/* binding */ lookUpDefaultBranch),
/* harmony export */   f: () => (/* binding */ lookUpFetchedName)
/* harmony export */ });
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(390);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(745);
/* harmony import */ var _ref_js__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(604);
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

/***/ 418:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Fw: () => (/* binding */ makeTemporaryHome),
/* harmony export */   fy: () => (/* binding */ newTemporaryHome),
/* harmony export */   pp: () => (/* binding */ removeTemporaryHome)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(598);
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_1__ = __nccwpck_require__(24);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __nccwpck_require__(760);
/* harmony import */ var _engine_errors_js__WEBPACK_IMPORTED_MODULE_3__ = __nccwpck_require__(390);
/* harmony import */ var _config_file_js__WEBPACK_IMPORTED_MODULE_4__ = __nccwpck_require__(658);
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

/***/ 480:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   j: () => (/* binding */ saveStepState)
/* harmony export */ });
/* unused harmony export readStepState */
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(488);
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

/***/ 34:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  I: () => (/* binding */ publishSummary)
});

// EXTERNAL MODULE: external "os"
var external_os_ = __nccwpck_require__(857);
// EXTERNAL MODULE: external "fs"
var external_fs_ = __nccwpck_require__(896);
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
var format = __nccwpck_require__(93);
// EXTERNAL MODULE: ./build/js/engine/report/outputs.js
var outputs = __nccwpck_require__(574);
// EXTERNAL MODULE: ./build/js/engine/report/worker-groups.js
var worker_groups = __nccwpck_require__(849);
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
    lines.push(...table(['Files', 'Written', 'Time', 'CPU user', 'CPU system', 'Peak memory', 'Engine', 'Workers', 'Kept', 'Removed'], [
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

/***/ 94:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {


// EXPORTS
__nccwpck_require__.d(__webpack_exports__, {
  Pt: () => (/* binding */ checkout),
  hd: () => (/* binding */ fetch),
  xC: () => (/* reexport */ parseEngineChoice),
  Ik: () => (/* reexport */ parseMemoryLimit),
  q1: () => (/* reexport */ parseTransportChoice),
  jO: () => (/* reexport */ parseWorkers),
  Iz: () => (/* reexport */ spawnGit)
});

// UNUSED EXPORTS: clone, plan

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __nccwpck_require__(24);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __nccwpck_require__(760);
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

;// CONCATENATED MODULE: ./build/js/engine/attributes/wildmatch.js
const ANY = 256;
const STAR = 257;
/** `**` as the last component, or before an escaped slash: any bytes. */
const GLOBSTAR = 258;
/** `**` and its slash: nothing, or any bytes up to and including a slash. */
const GLOBSTAR_SLASH = 259;
const CLASS = 512;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
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
 * Returns null for a pattern that can match nothing: an unfinished or unknown bracket expression, a backslash at the end.
 */
function compileGlob(pattern, pathMode, fold) {
    const ops = [];
    const classes = [];
    const end = pattern.length;
    let at = 0;
    while (at < end) {
        const byte = pattern[at];
        if (byte === BACKSLASH) {
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
                (first === 0 || pattern[first - 1] === SLASH) &&
                (at === end || pattern[at] === SLASH || (pattern[at] === BACKSLASH && pattern[at + 1] === SLASH));
            if (!pathMode || !wholeComponent) {
                ops.push(STAR);
            }
            else if (pattern[at] === SLASH) {
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
                set[SLASH] = 0;
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
                        ? !pathMode || byte !== SLASH
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
        if (starOp >= 0 && starAt < end && (!pathMode || text[starAt] !== SLASH)) {
            op = starOp;
            at = ++starAt;
        }
        else if (globstarOp >= 0 && globstarAt < end) {
            starOp = -1;
            if (globstarSlash) {
                while (globstarAt < end && text[globstarAt] !== SLASH)
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
        if (byte === BACKSLASH) {
            if (next === undefined)
                return -1;
            set[next] = 1;
            at++;
            byte = next;
        }
        else if (byte === DASH && previous !== 0 && next !== undefined && next !== CLOSE) {
            at++;
            byte = next;
            if (byte === BACKSLASH) {
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
    const glob = compileGlob(pattern, hasSlash, fold);
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
const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
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
        const nul = bytes.indexOf(NUL);
        if (nul >= 0)
            end = nul;
    }
    else if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
        start = 3;
    }
    while (start < end) {
        let lineEnd = bytes.indexOf(LF, start);
        let next = lineEnd + 1;
        if (lineEnd < 0 || lineEnd > end) {
            lineEnd = end;
            next = end;
        }
        if (!options.fromBlob) {
            // In a file, CR LF ends a line, and a NUL ends only its own line.
            if (next > lineEnd && lineEnd > start && bytes[lineEnd - 1] === CR)
                lineEnd--;
            const nul = bytes.subarray(start, lineEnd).indexOf(NUL);
            if (nul >= 0)
                lineEnd = start + nul;
        }
        if (lineEnd - start < LINE_LIMIT)
            parseLine(bytes, start, lineEnd, options.macros, rules, macros);
        start = next;
    }
    return { rules, macros };
}
function parseLine(bytes, start, end, macrosAllowed, rules, macros) {
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
    if (pattern.length > MACRO_PREFIX.length && latin1(pattern, 0, MACRO_PREFIX.length) === MACRO_PREFIX) {
        if (!macrosAllowed)
            return;
        const nameStart = skipBlanks(pattern, MACRO_PREFIX.length, pattern.length);
        macro = latin1(pattern, nameStart, skipToBlank(pattern, nameStart, pattern.length));
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
    const nul = pattern.indexOf(NUL);
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
        const name = latin1(token, signed ? 1 : 0, equals < 0 ? token.length : equals);
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
function latin1(bytes, start, end) {
    return start < end ? Buffer.from(bytes.subarray(start, end)).toString('latin1') : '';
}
function isBlank(byte) {
    return byte === 0x20 || byte === 0x09 || byte === CR || byte === LF || byte === NUL;
}
function skipBlanks(bytes, at, end) {
    while (at < end && isBlank(bytes[at]) && bytes[at] !== NUL)
        at++;
    return at;
}
function skipToBlank(bytes, at, end) {
    while (at < end && !isBlank(bytes[at]))
        at++;
    return at;
}
const ESCAPES = new Map([
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
        const escape = ESCAPES.get(code);
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

// EXTERNAL MODULE: ./build/js/engine/errors.js
var errors = __nccwpck_require__(390);
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
                throw new errors/* CheckoutError */.vd('config-invalid', `'${option}' has no value`, { option });
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
    throw new errors/* CheckoutError */.vd('config-invalid', "the value of 'core.autocrlf' is neither a boolean nor 'input'", {
        option: 'core.autocrlf',
    });
}
/** Numbers of conversions fit a byte; the last one is kept for `git` when there are too many reasons. */
const MOST_CONVERSIONS = 256;
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
        // Only reasons are without bound. There are fewer than ten of the others, for which room is kept.
        const full = this.conversions.length >= MOST_CONVERSIONS - 10;
        if (full && conversion.kind === 'git')
            return this.conversions.findLastIndex((each) => each.kind === 'git');
        return this.conversions.push(conversion) - 1;
    }
}
function same(a, b) {
    return a.kind === b.kind && a.crlf === b.crlf && a.ident === b.ident && a.reason === b.reason;
}
/** The conversion at checkout of a file with these attributes. Pure. */
function conversionFor(attributes, config) {
    const action = eolAction(attributes, config);
    const crlfOutput = action === 'text-crlf' || action === 'auto-crlf' || (isOpen(action) && textEolIsCrlf(config));
    const isAuto = action === 'auto' || action === 'auto-crlf';
    const crlf = crlfOutput ? (isAuto ? 'auto' : 'text') : 'none';
    const ident = attributes.ident === true;
    const encoding = encodingReason(attributes.workingTreeEncoding);
    if (encoding !== null)
        return handedToGit(encoding);
    const name = attributes.filter;
    const driver = typeof name === 'string' ? config.filters.get(name) : undefined;
    let inCore = isAuto;
    if (driver !== undefined) {
        const { process, smudge, clean, required } = driver;
        // A process that is set, be it empty, keeps smudge from being used.
        const command = process ?? smudge;
        if (command !== undefined && command !== '') {
            return handedToGit(`filter driver '${String(name)}' runs a command`);
        }
        inCore ||= process !== undefined || smudge !== undefined || clean !== undefined;
        if (required && inCore) {
            return handedToGit(`filter driver '${String(name)}' is required and has no command`);
        }
    }
    if (crlf === 'none' && !ident)
        return { kind: 'none', crlf, ident };
    // Line ends alone come out the same either way, so they are streamed whatever git's class.
    return { kind: crlf === 'auto' || (ident && inCore) ? 'in-core' : 'stream', crlf, ident };
}
function handedToGit(reason) {
    return { kind: 'git', crlf: 'none', ident: false, reason };
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
/** Why the encoding needs git, or null when there is nothing to encode. To git an unset one is as an empty one. */
function encodingReason(value) {
    if (value === null || value === false || value === '')
        return null;
    if (value === true)
        return 'working-tree-encoding has no value, which git refuses';
    return /^utf-?8$/i.test(value) ? null : `working-tree-encoding '${value}'`;
}

;// CONCATENATED MODULE: ./build/js/engine/oid.js
/** Length in bytes of a raw SHA-1 object id. */
const OID_BYTES = 20;
const HEX_OID = /^[0-9a-f]{40}$/;
/** True for exactly 40 lower-case hexadecimal digits. */
function oid_isHexOid(text) {
    return HEX_OID.test(text);
}
/** 40 hexadecimal digits -> 20 bytes. The caller has checked the digits. */
function oidFromHex(hex) {
    return new Uint8Array(Buffer.from(hex, 'hex'));
}
/** The id that starts at `offset` of `bytes`, as 40 hexadecimal digits. */
function oidToHex(bytes, offset = 0) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + offset, OID_BYTES).toString('hex');
}
/** Whether the ids at two places are equal. */
function oidEquals(a, aOffset, b, bOffset) {
    for (let i = 0; i < OID_BYTES; i++)
        if (a[aOffset + i] !== b[bOffset + i])
            return false;
    return true;
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
const MAX_ENTRY_HEADER_BYTES = MOST_VARINT_BYTES + Math.max(MOST_VARINT_BYTES, OID_BYTES);
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
            if (cursor + OID_BYTES > end)
                return false;
            this.baseOidAt = cursor;
            cursor += OID_BYTES;
        }
        else if (type === 0 || type === 5) {
            return false;
        }
        this.length = cursor - at;
        return true;
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/conversion-lookup.js
/**
 * Finds the conversion of each file while the manifest walks the trees: reads the .gitattributes of each directory from the new tree, and
 * from the working tree where the new tree has none (an untracked one counts, as with git).
 */








const conversion_lookup_NAME = Buffer.from('.gitattributes');
const NAME_IN_TREE = Buffer.from(' .gitattributes\0');
const READ_NO_FOLLOW = external_node_fs_.constants.O_RDONLY | (external_node_fs_.constants.O_NOFOLLOW ?? 0);
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
                if (error instanceof errors/* CheckoutError */.vd && error.code === 'object-missing')
                    return null;
                // Too large to be read is too large to be heeded.
                const { size } = this.#odb.reader;
                if (error instanceof errors/* CheckoutError */.vd && error.code === 'memory' && size >= ATTRIBUTES_FILE_LIMIT)
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
/** Rules of a file outside of the working tree; null when there is none. */
function readRules(path) {
    let content;
    try {
        content = (0,external_node_fs_.readFileSync)(path);
    }
    catch (error) {
        const errno = (0,errors/* errnoOf */.UQ)(error);
        if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'EACCES')
            return null;
        throw (0,errors/* ioError */.bD)('read', path, error);
    }
    return parseAttributes(content, { fromBlob: false, macros: true });
}

;// CONCATENATED MODULE: external "node:timers/promises"
const promises_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:timers/promises");
;// CONCATENATED MODULE: ./build/js/engine/index/cache-tree.js


/** `entryCount` of a directory whose tree is not known; it has no object id, and its parents must be unknown too. */
const UNKNOWN_TREE = 0xffff_ffff;
/**
 * The content of the TREE extension, without its header. Children come out in the order that git keeps them in, by
 * length of the name and then by its bytes, whatever order they are in here.
 */
function serializeCacheTree(directories, pathBytes) {
    const { count, parent, nameStart, nameEnd, entryCount, oids } = directories;
    if (count === 0)
        return new Uint8Array(0);
    const { childStart, children } = childrenInGitOrder(directories, pathBytes);
    // Bound: name, NUL, two decimal numbers of at most 10 digits, space, newline, id.
    let bound = 0;
    for (let i = 0; i < count; i++)
        bound += nameEnd[i] - nameStart[i] + 23 + OID_BYTES;
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
            for (let i = directory * OID_BYTES; i < (directory + 1) * OID_BYTES; i++)
                out[at++] = oids[i];
        }
        for (let i = childStart[directory + 1] - 1; i >= childStart[directory]; i--)
            stack[depth++] = children[i];
        written++;
    }
    if (written !== count || parent[0] !== -1)
        throw (0,errors/* bug */.jr)('the directories of a cache tree are not a tree');
    return out.subarray(0, at);
}
/** Children of directory i: children[childStart[i], childStart[i + 1]). */
function childrenInGitOrder(directories, pathBytes) {
    const { count, parent, nameStart, nameEnd } = directories;
    const childStart = new Uint32Array(count + 1);
    for (let i = 1; i < count; i++) {
        const above = parent[i];
        if (above < 0 || above >= i)
            throw (0,errors/* bug */.jr)('a directory of a cache tree comes before its parent');
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
const EXTENDED_FLAG = { skipWorktree: 0x4000, intentToAdd: 0x2000 };
/** Mode bits as git stores them. */
const MODE = {
    typeMask: 0o170000,
    directory: 0o040000,
    regular: 0o100000,
    symlink: 0o120000,
    gitlink: 0o160000,
};

// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __nccwpck_require__(598);
;// CONCATENATED MODULE: ./build/js/engine/index/serialize-index.js
/**
 * Writing the index: version 2, or 3 when an entry needs the second flag word, exactly as git lays it out.
 *
 * It is on the critical path of a checkout: stat data exists only when the last file is written. So everything else
 * (names, ids, modes, flags, the cache tree) is laid out in one buffer of the final size while the workers still write,
 * and the end only drops in the stat words and hashes: of 90,000 entries (9.4 MB) 5 to 14 ms ahead and 6 ms at the end,
 * on two cores, Node 24.21.
 */




const HEADER_BYTES = 12;
const STAT_BYTES = 4 * STAT_WORDS;
const OID_AT = STAT_BYTES;
const FLAGS_AT = OID_AT + OID_BYTES;
const MODE_AT = 4 * STAT.mode;
/** The length of a name that does not fit the 12 bits of the flags. */
const LONG_NAME = 0xfff;
/** Size of an entry: padded with 1 to 8 NULs to a multiple of 8. */
function entryBytes(nameLength, extended) {
    return (FLAGS_AT + (extended ? 4 : 2) + nameLength + 8) & ~7;
}
/** An index file that lacks only its stat words and its hash. */
class IndexSkeleton {
    file;
    count;
    /** Where each entry starts in the file. */
    entryOffsets;
    finished = false;
    /**
     * Lays out everything but stat data. `cacheTree` is the content of the TREE extension, null to leave it out. Takes
     * copies: the tables may change afterwards.
     */
    constructor(entries, cacheTree) {
        const { count, pathBytes, pathOffsets, oids, modes } = entries;
        if (pathOffsets.length <= count || oids.length < count * OID_BYTES || modes.length < count) {
            throw (0,errors/* bug */.jr)('index tables are shorter than their count');
        }
        this.count = count;
        this.entryOffsets = new Uint32Array(count);
        const extendedFlags = entries.extendedFlags;
        let size = HEADER_BYTES;
        let version = 2;
        for (let i = 0; i < count; i++) {
            const extended = extendedFlags !== undefined && extendedFlags[i] !== 0;
            if (extended)
                version = 3;
            this.entryOffsets[i] = size;
            size += entryBytes(pathOffsets[i + 1] - pathOffsets[i], extended);
        }
        const extensionsAt = size;
        if (cacheTree !== null)
            size += 8 + cacheTree.length;
        size += OID_BYTES;
        if (size > 0xffff_ffff)
            throw (0,errors/* bug */.jr)('an index beyond 4 GiB');
        // Zeroed memory: padding, and the stat words of entries that end up without.
        const file = Buffer.alloc(size);
        const view = new DataView(file.buffer, file.byteOffset, size);
        file.write('DIRC', 0, 'latin1');
        view.setUint32(4, version);
        view.setUint32(8, count);
        for (let i = 0; i < count; i++) {
            const at = this.entryOffsets[i];
            view.setUint32(at + MODE_AT, modes[i]);
            const oidAt = i * OID_BYTES;
            for (let b = 0; b < OID_BYTES; b++)
                file[at + OID_AT + b] = oids[oidAt + b];
            const nameStart = pathOffsets[i];
            const nameEnd = pathOffsets[i + 1];
            const kept = entries.flags === undefined ? 0 : entries.flags[i] & (FLAG.assumeValid | FLAG.stage);
            const more = extendedFlags === undefined ? 0 : extendedFlags[i];
            const flags = kept | (more === 0 ? 0 : FLAG.extended) | Math.min(nameEnd - nameStart, LONG_NAME);
            view.setUint16(at + FLAGS_AT, flags);
            let nameAt = at + FLAGS_AT + 2;
            if (more !== 0) {
                view.setUint16(nameAt, more);
                nameAt += 2;
            }
            // A plain loop: names are around 40 bytes, where a `set` of a `subarray` costs more than the copy.
            for (let b = nameStart; b < nameEnd; b++)
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
     * in it are ignored, those of the entries count. All zeros make an entry that git will look at. Call once: the buffer
     * is handed over.
     */
    finish(stats) {
        const { file, count, entryOffsets } = this;
        if (this.finished)
            throw (0,errors/* bug */.jr)('an index skeleton is finished twice');
        if (stats.length < count * STAT_WORDS)
            throw (0,errors/* bug */.jr)('stat table is shorter than the index');
        this.finished = true;
        const view = new DataView(file.buffer, file.byteOffset, file.length);
        for (let i = 0; i < count; i++) {
            const at = entryOffsets[i];
            const from = i * STAT_WORDS;
            for (let word = 0; word < STAT_WORDS; word++) {
                if (word !== STAT.mode)
                    view.setUint32(at + 4 * word, stats[from + word]);
            }
        }
        const end = file.length - OID_BYTES;
        file.set((0,external_node_crypto_.createHash)('sha1').update(file.subarray(0, end)).digest(), end);
        return file;
    }
}
/** The complete index file for entries whose stat data is known: layout and stat words in one step. */
function serializeIndex(entries, cacheTree) {
    return new IndexSkeleton(entries, cacheTree).finish(entries.stats);
}

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
    if (at + STAT_WORDS > out.length)
        throw (0,errors/* bug */.jr)('stat words beyond their table');
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
    out[at + STAT.size] = sizeWord(stat.size);
}
const scratch = new Uint32Array(STAT_WORDS);
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
        throw (0,errors/* bug */.jr)('stat words beyond their table');
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
const tree_MODE_SYMLINK = 0o120000;
const MODE_TREE = 0o040000;
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
    const corrupt = (how) => new errors/* CheckoutError */.vd('object-corrupt', `pack '${path}' ${how}`, { path });
    let fd;
    try {
        fd = (0,external_node_fs_.openSync)(path, 'r');
    }
    catch (error) {
        throw (0,errors/* ioError */.bD)('open', path, error);
    }
    try {
        const stat = (0,external_node_fs_.fstatSync)(fd);
        if (!stat.isFile())
            throw corrupt('is not a regular file');
        const size = stat.size;
        if (size < PACK_HEADER_BYTES + OID_BYTES)
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
        const trailer = Buffer.alloc(OID_BYTES);
        (0,external_node_fs_.readSync)(fd, trailer, 0, OID_BYTES, size - OID_BYTES);
        if (!trailer.equals(index.packChecksum()))
            throw corrupt('and its index disagree about its checksum');
        return { path, indexPath, fd, end: size - OID_BYTES };
    }
    catch (error) {
        (0,external_node_fs_.closeSync)(fd);
        throw (0,errors/* ioError */.bD)('read', path, error);
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
        if (size < FANOUT_BYTES + 2 * OID_BYTES)
            throw this.#corrupt('is too small');
        this.#version = head.readUInt32BE(0) === SIGNATURE_V2 ? 2 : 1;
        if (this.#version === 2 && head.readUInt32BE(4) !== 2)
            throw this.#corrupt('has an unknown version');
        const fanoutAt = this.#version === 2 ? HEADER_V2_BYTES : 0;
        if (size < fanoutAt + FANOUT_BYTES + 2 * OID_BYTES)
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
        const fixed = fanoutAt + FANOUT_BYTES + 2 * OID_BYTES;
        if (this.#version === 1) {
            if (size !== fixed + this.count * (4 + OID_BYTES))
                throw this.#corrupt('has a wrong size');
        }
        else {
            const least = fixed + this.count * (OID_BYTES + 4 + 4);
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
            fd = (0,external_node_fs_.openSync)(path, 'r');
        }
        catch (error) {
            throw (0,errors/* ioError */.bD)('open', path, error);
        }
        try {
            return new PackIndex(path, fd, (0,external_node_fs_.fstatSync)(fd).size);
        }
        catch (error) {
            (0,external_node_fs_.closeSync)(fd);
            throw (0,errors/* ioError */.bD)('read', path, error);
        }
    }
    close() {
        (0,external_node_fs_.closeSync)(this.#fd);
        this.#blocks.clear();
    }
    /** The pack's checksum as this index states it: the last but one hash of the file. */
    packChecksum() {
        this.#locate(this.#size - 2 * OID_BYTES, OID_BYTES);
        return Buffer.from(this.#buffer.subarray(this.#at, this.#at + OID_BYTES));
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
            this.#locate(FANOUT_BYTES + position * (4 + OID_BYTES), 4);
            return this.#buffer.readUInt32BE(this.#at);
        }
        const offsets = HEADER_V2_BYTES + FANOUT_BYTES + this.count * (OID_BYTES + 4);
        this.#locate(offsets + position * 4, 4);
        const word = this.#buffer.readUInt32BE(this.#at);
        if (word < 0x80000000)
            return word;
        const largeAt = offsets + this.count * 4 + (word - 0x80000000) * 8;
        if (largeAt + 8 > this.#size - 2 * OID_BYTES)
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
            ? FANOUT_BYTES + position * (4 + OID_BYTES) + 4
            : HEADER_V2_BYTES + FANOUT_BYTES + position * OID_BYTES;
        this.#locate(at, OID_BYTES);
        for (let i = 0; i < OID_BYTES; i++) {
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
            const read = (0,external_node_fs_.readSync)(this.#fd, into, done, into.length - done, position + done);
            if (read === 0)
                throw this.#corrupt('ends early');
            done += read;
        }
    }
    #corrupt(how) {
        return new errors/* CheckoutError */.vd('object-corrupt', `pack index '${this.#path}' ${how}`, { path: this.#path });
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
                read = (0,external_node_fs_.readSync)(file.fd, into, done, length - done, offset + done);
            }
            catch (error) {
                throw (0,errors/* ioError */.bD)('read', file.path, error);
            }
            if (read === 0)
                throw this.corrupt(pack, offset, 'is cut off');
            done += read;
        }
    }
    /** The error for an entry that is not what it must be. */
    corrupt(pack, offset, how) {
        const { path } = this.file(pack);
        return new errors/* CheckoutError */.vd('object-corrupt', `pack '${path}': the entry at offset ${offset} ${how}`, { path });
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
            throw new errors/* CheckoutError */.vd('memory', `cannot allocate ${bytes} bytes for an object`, {}, error);
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
            this.#fd = (0,external_node_fs_.openSync)(this.#path, 'r');
        }
        catch (error) {
            const errno = (0,errors/* errnoOf */.UQ)(error);
            if (errno === 'ENOENT' || errno === 'ENOTDIR')
                return false;
            throw (0,errors/* ioError */.bD)('open', this.#path, error);
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
                throw (0,errors/* ioError */.bD)('read', this.#path, error);
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
                throw new errors/* CheckoutError */.vd('memory', `cannot allocate ${this.size} bytes for '${this.#path}'`, {}, error);
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
            throw (0,errors/* ioError */.bD)('read', this.#path, error);
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
        return new errors/* CheckoutError */.vd('object-corrupt', `loose object '${this.#path}' ${how}`, { path: this.#path });
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
                throw new errors/* CheckoutError */.vd('object-missing', `object ${hex} is missing`, { oid: hex });
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

;// CONCATENATED MODULE: ./build/js/engine/odb/object-database.js
/**
 * Finds objects: packs first, then loose ones, in the repository's own object directory and then in each alternate. The main
 * thread owns the database; workers get places (a pack and an offset) and read by themselves.
 */








/**
 * The main thread reads trees, commits, tags, attribute files and link targets whole, outside of the memory budget. What takes more than
 * this is none of them: the tree of the most entries that a checkout may have (tables.ts) would.
 */
const MOST_WHOLE_BYTES = 2 ** 30;
/** More packs than this are left to git: a place has 16 bits for the pack's number. */
const MAX_PACKS = 500;
class object_database_ObjectDatabase {
    /** Set by `find`: where the object is; `pack` is LOOSE for one that may be in a file of its own. */
    pack = 0;
    offset = 0;
    directories;
    #packs = [];
    #byUse = [];
    #indexes = [];
    #loose;
    #reader = null;
    constructor(directories, packs, loose) {
        this.directories = directories;
        this.#loose = loose;
        for (const pack of packs) {
            this.#packs.push(pack.file);
            this.#indexes.push(pack.index);
            this.#byUse.push(pack);
        }
    }
    /**
     * Opens all packs of the object directories. A pack that does not fit its index is told to `warn` and left out: its
     * objects may be elsewhere.
     * @throws CheckoutError unsupported for more packs than can be numbered, io
     */
    static open(directories, warn) {
        const packs = [];
        const names = new Set();
        let loose = false;
        try {
            for (const directory of directories) {
                loose ||= hasLooseObjects(directory);
                for (const base of packBases(directory)) {
                    // The same pack in an alternate is the same pack.
                    const name = base.slice(base.lastIndexOf('/') + 1);
                    if (names.has(name))
                        continue;
                    if (packs.length >= MAX_PACKS) {
                        throw new errors/* CheckoutError */.vd('unsupported', `the repository has more than ${MAX_PACKS} packs`);
                    }
                    try {
                        const index = PackIndex.open(`${base}.idx`);
                        try {
                            packs.push({ file: openPack(`${base}.pack`, `${base}.idx`, index), index, number: packs.length });
                            names.add(name);
                        }
                        catch (error) {
                            index.close();
                            throw error;
                        }
                    }
                    catch (error) {
                        if (!(error instanceof errors/* CheckoutError */.vd))
                            throw error;
                        if (error.subject.errno === 'EMFILE' || error.subject.errno === 'ENFILE')
                            throw error;
                        warn(error.message);
                    }
                }
            }
        }
        catch (error) {
            for (const pack of packs) {
                (0,external_node_fs_.closeSync)(pack.file.fd);
                pack.index.close();
            }
            throw error;
        }
        return new object_database_ObjectDatabase(directories, packs, loose);
    }
    /** The open packs, for workers. */
    get packs() {
        return this.#packs;
    }
    /** How many objects the packs hold, those in several packs counted again. */
    get packedObjects() {
        return this.#indexes.reduce((sum, index) => sum + index.count, 0);
    }
    close() {
        this.#reader?.close();
        for (const pack of this.#packs)
            (0,external_node_fs_.closeSync)(pack.fd);
        for (const index of this.#indexes)
            index.close();
    }
    /**
     * Finds where an object is. Sets `pack` and `offset`.
     * @returns false when no pack has it and no loose object can exist
     */
    find(oid, oidAt) {
        for (let i = 0; i < this.#byUse.length; i++) {
            const candidate = this.#byUse[i];
            if (candidate === undefined)
                break;
            const offset = candidate.index.find(oid, oidAt);
            if (offset < 0)
                continue;
            this.pack = candidate.number;
            this.offset = offset;
            if (i > 0) {
                // Objects that are used together lie together: try this pack first next time.
                this.#byUse.splice(i, 1);
                this.#byUse.unshift(candidate);
            }
            return true;
        }
        this.pack = LOOSE;
        this.offset = 0;
        return this.#loose;
    }
    /** The main thread's reader. */
    get reader() {
        return (this.#reader ??= new ObjectReader(this.#packs, this.directories));
    }
    /**
     * Reads a whole object; the bytes are valid until the next read.
     * @returns its bytes, its type is then `reader.type`
     * @throws CheckoutError object-missing, object-corrupt, memory
     */
    read(oid, oidAt = 0) {
        if (!this.find(oid, oidAt))
            throw missing(oid, oidAt);
        const { reader } = this;
        // What was read before is not valid any more; a large one would stay in memory until somebody finishes it.
        reader.finish();
        reader.open(this.pack, this.offset, oid, oidAt);
        const small = reader.readSmall();
        if (small !== null)
            return small;
        reader.measure();
        if (reader.readBytes > MOST_WHOLE_BYTES) {
            const hex = oidToHex(oid, oidAt);
            throw new errors/* CheckoutError */.vd('memory', `object ${hex} takes ${reader.readBytes} bytes, more than are read whole`, {
                oid: hex,
            });
        }
        return reader.read();
    }
}
function missing(oid, oidAt) {
    const hex = oidToHex(oid, oidAt);
    return new errors/* CheckoutError */.vd('object-missing', `object ${hex} is missing`, { oid: hex });
}
/** Paths without ending of the packs that have both files, in a stable order. */
function packBases(objectDirectory) {
    const directory = (0,external_node_path_.join)(objectDirectory, 'pack');
    let names;
    try {
        names = (0,external_node_fs_.readdirSync)(directory);
    }
    catch (error) {
        if ((0,errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return [];
        throw (0,errors/* ioError */.bD)('read', directory, error);
    }
    const packs = new Set(names.filter((name) => name.endsWith('.pack')));
    return names
        .filter((name) => name.endsWith('.idx') && packs.has(`${name.slice(0, -4)}.pack`))
        .map((name) => `${directory}/${name.slice(0, -4)}`)
        .sort();
}
function hasLooseObjects(objectDirectory) {
    try {
        return (0,external_node_fs_.readdirSync)(objectDirectory).some((name) => /^[0-9a-f]{2}$/.test(name));
    }
    catch (error) {
        throw (0,errors/* ioError */.bD)('read', objectDirectory, error);
    }
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
        if ((0,errors/* errnoOf */.UQ)(error) === 'EEXIST')
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
        if ((0,errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return false;
    }
}
function cutAtNul(target) {
    const zero = target.indexOf(0);
    return bufferOver(target, 0, zero < 0 ? target.length : zero);
}
/** Makes a submodule's directory unless it is there. */
function createGitlinkDirectory(path) {
    try {
        (0,external_node_fs_.mkdirSync)(path);
    }
    catch (error) {
        if ((0,errors/* errnoOf */.UQ)(error) !== 'EEXIST')
            throw error;
    }
    return (0,external_node_fs_.lstatSync)(path, { bigint: true });
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
        if ((0,errors/* errnoOf */.UQ)(error) !== 'ENOENT')
            throw (0,errors/* ioError */.bD)('remove', displayBytes(path), error);
    }
}
function removeDirectory(path, keep) {
    if (path.toString('utf8') === keep) {
        const shown = displayBytes(path);
        throw new errors/* CheckoutError */.vd('io', `refusing to remove the current working directory '${shown}'`, { path: shown });
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
        const errno = (0,errors/* errnoOf */.UQ)(error);
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
        if ((0,errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return false;
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/leading-directories.js
/**
 * Makes the directories that entries lie in, and sees to it that each is a real directory: a file or a link where a directory
 * must be is removed, never followed. Main thread only, before any worker writes below.
 */




const UNKNOWN = 0;
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
        if (state !== UNKNOWN)
            return state === EXISTING;
        // From the outermost unknown directory inwards; trees may be thousands deep, so without recursion.
        const chain = [];
        for (let at = directory; this.#states[at] === UNKNOWN; at = this.#table.parent[at] ?? 0)
            chain.push(at);
        for (let i = chain.length - 1; i >= 0; i--)
            this.#make(chain[i] ?? 0);
        return this.#states[directory] === EXISTING;
    }
    /** Looks again: for use after something was removed. */
    forget() {
        for (let i = 1; i < this.#states.length; i++)
            if (this.#states[i] === EXISTING)
                this.#states[i] = UNKNOWN;
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
            if ((0,errors/* errnoOf */.UQ)(error) !== 'EEXIST')
                throw (0,errors/* ioError */.bD)('make directory', displayPath(this.#pathBytes, start, end), error);
            const stat = (0,external_node_fs_.lstatSync)(path);
            if (!stat.isDirectory())
                throw (0,errors/* ioError */.bD)('make directory', displayPath(this.#pathBytes, start, end), error);
            this.#states[directory] = EXISTING;
            return;
        }
        this.#states[directory] = FRESH;
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/clear-way.js
/**
 * Clears the way for the workers: removes what the new tree does not have, and what stands where an entry goes. Main
 * thread only; the workers themselves never remove anything.
 */






const clear_way_SLASH = 0x2f;
/**
 * Removes tracked entries that the new tree does not have, then the directories that this emptied. A path below a link or
 * below something that is no directory is not ours and is left alone.
 * @param keep a directory that must not be removed
 */
function removeTracked(index, removals, paths, keep) {
    const { pathBytes, pathOffsets } = index;
    const warnings = [];
    const emptied = [];
    let count = 0;
    let directoryStart = 0;
    let directoryEnd = 0;
    let directoryReal = true;
    for (const entry of removals) {
        const start = pathOffsets[entry] ?? 0;
        const end = pathOffsets[entry + 1] ?? 0;
        const nameStart = lastSlash(pathBytes, start, end) + 1;
        if (!sameBytes(pathBytes, start, nameStart, directoryStart, directoryEnd)) {
            directoryStart = start;
            directoryEnd = nameStart;
            directoryReal = isRealDirectory(pathBytes, start, nameStart, paths);
            if (directoryReal && nameStart > start)
                emptied.push({ start, end: nameStart - 1 });
        }
        if (!directoryReal)
            continue;
        const path = paths.absolute(pathBytes, start, end);
        if (index.modes[entry] === tree_MODE_GITLINK) {
            // A populated submodule stays, as with git.
            if (removeEmptyDirectory(path, keep))
                count++;
            else if ((0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false }) !== undefined) {
                warnings.push(`unable to remove the submodule directory '${displayPath(pathBytes, start, end)}'`);
            }
            continue;
        }
        const errno = unlinkTracked(path);
        if (errno === null)
            count++;
        else
            warnings.push(`unable to remove '${displayPath(pathBytes, start, end)}': ${errno}`);
    }
    for (const { start, end } of emptied.reverse())
        removeUpwards(pathBytes, start, end, paths, keep);
    return { count, warnings };
}
/** Removes a directory and then those above it, as long as they are empty. */
function removeUpwards(pathBytes, start, end, paths, keep) {
    let at = end;
    while (at > start && removeEmptyDirectory(paths.absolute(pathBytes, start, at), keep)) {
        at = lastSlash(pathBytes, start, at);
    }
}
/** Whether each component of the directory path[start, end) (with its slash) is a directory and no link. */
function isRealDirectory(pathBytes, start, end, paths) {
    for (let i = start; i < end; i++) {
        if (pathBytes[i] !== clear_way_SLASH)
            continue;
        try {
            const stat = (0,external_node_fs_.lstatSync)(paths.absolute(pathBytes, start, i), { throwIfNoEntry: false });
            if (stat?.isDirectory() !== true)
                return false;
        }
        catch {
            return false;
        }
    }
    return true;
}
/**
 * Removes what stands where an entry goes: a file, a link, or a directory with all that is in it. A submodule's directory
 * stays for a submodule.
 * @returns whether something was removed
 * @throws CheckoutError io when it cannot be removed
 */
function clearEntry(tables, entry, paths, keep) {
    const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    const stat = lstatOrNothing(path);
    if (stat === undefined)
        return false;
    if (stat.isDirectory() && tables.modes[entry] === tree_MODE_GITLINK)
        return false;
    removeAll(path, keep);
    return true;
}
/** What may not be looked at counts as nothing: creating the entry will fail, and that error says more. */
function lstatOrNothing(path) {
    try {
        return (0,external_node_fs_.lstatSync)(path, { throwIfNoEntry: false });
    }
    catch (error) {
        if ((0,errors/* errnoOf */.UQ)(error) === undefined)
            throw error;
        return undefined;
    }
}
/** Position of the last slash in [start, end), or start - 1. */
function lastSlash(bytes, start, end) {
    let at = end - 1;
    while (at >= start && bytes[at] !== clear_way_SLASH)
        at--;
    return at;
}
function sameBytes(bytes, aStart, aEnd, bStart, bEnd) {
    if (aEnd - aStart !== bEnd - bStart)
        return false;
    return bufferOver(bytes, aStart, aEnd).equals(bufferOver(bytes, bStart, bEnd));
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
        throw new errors/* CheckoutError */.vd('memory', `cannot allocate ${bytes} bytes for the list of files`, {}, error);
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/compare.js
/**
 * Holds the manifest against the index and the working tree: what can stay, what must be written, what must go. These are the rules
 * of a forced checkout (git's one-way merge with reset): a tracked file stays when the index has it with the same id and
 * mode and its stat data have not changed; everything else is written anew.
 */





/** All is to be written: there is no index, so nothing on disk is known. */
function compareWithNothing(tables) {
    let toWrite = 0;
    for (let i = 0; i < tables.count; i++) {
        tables.states[i] = initialState(tables, i);
        if (tables.states[i] === State.PENDING)
            toWrite++;
    }
    return { removals: new Uint32Array(0), kept: 0, toWrite };
}
function initialState(tables, entry) {
    const mode = tables.modes[entry];
    return mode === tree_MODE_SYMLINK || mode === tree_MODE_GITLINK ? State.LATER : State.PENDING;
}
/** Sets the state of each entry, and for those that stay their stat data, from the old index and the files on disk. */
function compareWithIndex(tables, index, paths, statComparison) {
    const removals = [];
    let kept = 0;
    let toWrite = 0;
    let old = 0;
    let entry = 0;
    while (entry < tables.count || old < index.count) {
        const order = entry >= tables.count ? 1 : old >= index.count ? -1 : comparePaths(tables, entry, index, old);
        if (order > 0) {
            // Unmerged paths have several entries; one removal is enough.
            const previous = removals[removals.length - 1];
            if (previous === undefined || !samePath(index, previous, old))
                removals.push(old);
            old++;
            continue;
        }
        if (order < 0) {
            tables.states[entry] = initialState(tables, entry);
            if (tables.states[entry] === State.PENDING)
                toWrite++;
            entry++;
            continue;
        }
        const state = sameInIndex(tables, entry, index, old)
            ? stateOnDisk(tables, entry, index, old, paths, statComparison)
            : initialState(tables, entry);
        tables.states[entry] = state;
        if (state === State.KEPT)
            kept++;
        else if (state !== State.LATER)
            toWrite++;
        entry++;
        old++;
        // Further stages of an unmerged path.
        while (old < index.count && comparePaths(tables, entry - 1, index, old) === 0)
            old++;
    }
    return { removals: Uint32Array.from(removals), kept, toWrite };
}
/** Byte order of an entry's path and a path of the index. */
function comparePaths(tables, entry, index, old) {
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
/** Whether the index has the entry merged, with the same id and mode. */
function sameInIndex(tables, entry, index, old) {
    return (index.flags[old] === 0 &&
        index.modes[old] === tables.modes[entry] &&
        oidEquals(tables.oids, entry * OID_BYTES, index.oids, old * OID_BYTES));
}
function stateOnDisk(tables, entry, index, old, paths, statComparison) {
    const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    const stat = compare_lstatOrNothing(path);
    const oldAt = old * tables_STAT_WORDS;
    const emptyBlob = isEmptyBlob(index.oids, old * OID_BYTES);
    if (stat === undefined || matchStat(index.stats, oldAt, stat, statComparison, emptyBlob) === 'changed') {
        return initialState(tables, entry);
    }
    tables.stats.set(index.stats.subarray(oldAt, oldAt + tables_STAT_WORDS), entry * tables_STAT_WORDS);
    if (!isRacy(index.stats, oldAt, index.mtimeSeconds))
        return State.KEPT;
    // Links are compared by the main thread, which makes them.
    return tables.modes[entry] === tree_MODE_SYMLINK ? State.LATER : State.VERIFY;
}
/** lstat without an exception for what is not there; a file where a directory should be counts as nothing, too. */
function compare_lstatOrNothing(path) {
    try {
        return (0,external_node_fs_.lstatSync)(path, { bigint: true, throwIfNoEntry: false });
    }
    catch {
        // ENOTDIR, ELOOP, EACCES: whatever it is, it is not the file that the index knows.
        return undefined;
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
const SPACE = 0x20;
const ident_LF = 0x0a;
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
        else if (bytes[at + 2] === ident_COLON) {
            const close = bytes.indexOf(DOLLAR, at + 3);
            if (close < 0)
                break;
            if (hasByte(bytes, ident_LF, at + 3, close))
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
const FOREIGN_HEAD = Uint8Array.of(DOLLAR, LETTER_I, LETTER_D, ident_COLON, SPACE);
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
            throw new errors/* CheckoutError */.vd('memory', `an unfinished $Id$ keyword is longer than ${this.#limit} bytes`);
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
    for (let i = start; i < end; i++) {
        const byte = bytes[i];
        if (byte === sinks_LF && previous !== sinks_CR)
            out[at++] = sinks_CR;
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
            throw (0,errors/* bug */.jr)('content after its end');
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
        throw (0,errors/* bug */.jr)(`content of the ${conversion.kind} kind cannot be converted in pieces`);
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
        throw (0,errors/* bug */.jr)(`content that git must convert: ${conversion.reason ?? ''}`);
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
    let fd;
    try {
        fd = (0,external_node_fs_.openSync)(path, READ);
    }
    catch (error) {
        if ((0,errors/* errnoOf */.UQ)(error) !== undefined)
            return false;
        throw error;
    }
    try {
        const stat = (0,external_node_fs_.fstatSync)(fd);
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
                const got = (0,external_node_fs_.readSync)(fd, read, 0, want, position);
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
        (0,external_node_fs_.closeSync)(fd);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/worktree/create-file.js
/**
 * Creates one file of the working tree. Always a new file: exclusive create means that nothing is followed, truncated or
 * shared, and that what is unexpectedly there is found out rather than overwritten. The only thing ever removed here is
 * this call's own half-written file.
 */


const CREATE = external_node_fs_.constants.O_WRONLY | external_node_fs_.constants.O_CREAT | external_node_fs_.constants.O_EXCL;
function writeFully(fd, piece) {
    const { length } = piece;
    let at = (0,external_node_fs_.writeSync)(fd, piece, 0, length);
    while (at < length)
        at += (0,external_node_fs_.writeSync)(fd, piece, at, length - at);
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
        fd = (0,external_node_fs_.openSync)(path, CREATE, executable ? 0o777 : 0o666);
    }
    catch (error) {
        const errno = (0,errors/* errnoOf */.UQ)(error);
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
        const oidAt = entry * OID_BYTES;
        reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, tables.oids, oidAt);
        if (reader.type !== BLOB) {
            const hex = oidToHex(tables.oids, oidAt);
            throw new errors/* CheckoutError */.vd('object-corrupt', `object ${hex} is a ${typeName(reader.type)}, not a blob`, {
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
                this.#reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, tables.oids, entry * OID_BYTES);
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
        const made = convertInto(conversion, content, content.length, this.#job.tables.oids, entry * OID_BYTES, out);
        return out.subarray(0, made);
    }
    #streamed(conversion, entry) {
        const reader = this.#reader;
        if (conversion.kind === 'none') {
            return (write) => {
                reader.stream(write);
            };
        }
        const converter = createStreamConverter(conversion, this.#job.tables.oids, entry * OID_BYTES);
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
        if (error instanceof errors/* CheckoutError */.vd) {
            const oid = oidToHex(tables.oids, entry * OID_BYTES);
            const subject = { ...error.subject, path, oid };
            return new errors/* CheckoutError */.vd(error.code, `cannot write '${path}' (blob ${oid}): ${error.message}`, subject);
        }
        return (0,errors/* ioError */.bD)('write', path, error);
    }
}

;// CONCATENATED MODULE: ./build/js/engine/object/path-validity.js
const path_validity_SLASH = 0x2f;
const path_validity_BACKSLASH = 0x5c;
const DOT = 0x2e;
const path_validity_SPACE = 0x20;
const path_validity_COLON = 0x3a;
const TILDE = 0x7e;
const HAS_SLASH = 1;
const HAS_BACKSLASH = 2;
const HAS_NUL = 4;
const HAS_WINDOWS_ILLEGAL = 8;
/** What the presence of a byte anywhere in a name means. */
const BYTE_CLASS = new Uint8Array(256);
for (let byte = 1; byte < path_validity_SPACE; byte++)
    BYTE_CLASS[byte] = HAS_WINDOWS_ILLEGAL;
for (const character of ':<>"|?*')
    BYTE_CLASS[character.charCodeAt(0)] = HAS_WINDOWS_ILLEGAL;
BYTE_CLASS[0] = HAS_NUL;
BYTE_CLASS[path_validity_SLASH] = HAS_SLASH;
BYTE_CLASS[path_validity_BACKSLASH] = HAS_BACKSLASH;
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
        return path_validity_EMPTY;
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
        if (i < end && name[i] !== path_validity_SLASH)
            continue;
        const reason = invalidBetweenSlashes(name, from, i, end, isSymlink, rules);
        if (reason !== null)
            return reason;
        from = i + 1;
    }
    return null;
}
const path_validity_EMPTY = 'a component of it is empty';
/** One component `name[start, end)` of a name that goes on to `nameEnd`. */
function invalidBetweenSlashes(name, start, end, nameEnd, isSymlink, rules) {
    if (start === end)
        return path_validity_EMPTY;
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
        if (at === start || name[at] === path_validity_BACKSLASH) {
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
        if (byte === path_validity_BACKSLASH || byte === path_validity_SLASH || byte === path_validity_COLON)
            return true;
        if (byte !== DOT && byte !== path_validity_SPACE)
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
        if (byte === path_validity_COLON)
            return true;
        if (byte !== DOT && byte !== path_validity_SPACE)
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
const path_validity_NUL = asciiBytes('nul');
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
    if (last === path_validity_SPACE || last === DOT)
        return 'Windows drops a space or dot at the end of a name';
    return isWindowsDevice(name, start, end) ? 'Windows takes it for a device' : null;
}
/** One character and a colon; `subst` makes a drive of any character, also of one of several bytes. */
function hasDrivePrefix(name, start, end) {
    let at = start + 1;
    if (name[start] >= 0x80)
        while (at < start + 4 && at < end && name[at] >= 0x80)
            at++;
    return at < end && name[at] === path_validity_COLON;
}
/** AUX, PRN, NUL, CON, CONIN$, CONOUT$, COM1 to COM9, LPT0 to LPT9; an extension, a stream or spaces do not matter. */
function isWindowsDevice(name, start, end) {
    if (end - start < 3)
        return false;
    let at;
    if (hasPrefixIgnoringCase(name, start, end, AUX) ||
        hasPrefixIgnoringCase(name, start, end, PRN) ||
        hasPrefixIgnoringCase(name, start, end, path_validity_NUL)) {
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
    while (at < end && name[at] === path_validity_SPACE)
        at++;
    return at >= end || name[at] === DOT || name[at] === path_validity_COLON;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/manifest.js
/**
 * The manifest: what the commit's tree says should be on disk. Reads all trees of the commit, checks each name before anything
 * is touched, and fills the shared tables in index order.
 *
 * What git would order or drop in ways of its own (a tree out of order, a name twice, a name with a slash) is left to git: the
 * manifest says so by `needsGit`.
 */







/** core.maxTreeDepth's default in git 2.44 and later. */
const MAX_TREE_DEPTH = 2048;
/**
 * A tree may name one subtree many times, and that one another, so that a few objects stand for more directories than anybody
 * could make. The largest repositories that we know of have some hundred thousand.
 */
const MAX_DIRECTORIES = 4_000_000;
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
    #directories = newDirectories(1024);
    #needsGit = new Set();
    #frames = [];
    /** The path of the directory that the walk is in, with its slash. */
    #prefix = new Uint8Array(4096);
    #cacheTreeValid = true;
    #notified = false;
    /** Regular files so far. */
    #files = 0;
    constructor(odb, options) {
        this.#odb = odb;
        this.#options = options;
        // A shallow repository has about as many objects as its commit has entries, so that the tables need not grow; memory that
        // is not touched costs nothing.
        const capacity = Math.min(Math.max(odb.packedObjects, 1024), 1 << 20);
        this.#tables = allocateTables(capacity, 32 * capacity);
    }
    build(rootOid) {
        const { conversions } = this.#options;
        const maxDepth = this.#options.maxDepth ?? MAX_TREE_DEPTH;
        this.#enter(rootOid, 0, -1, 0);
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
                conversions.leaveDirectory();
                continue;
            }
            this.#checkName(frame);
            this.#checkOrder(frame);
            // git, too, does not vouch for the id of a tree that it would write in another way.
            if (!cursor.isModeCanonical)
                this.#cacheTreeValid = false;
            if (cursor.mode === MODE_TREE) {
                if (this.#frames.length >= maxDepth) {
                    const where = this.#entryDisplay(frame);
                    throw new errors/* CheckoutError */.vd('tree-too-deep', `'${where}' is more than ${maxDepth} directories deep`, {
                        path: where,
                    });
                }
                const length = frame.prefixLength + (cursor.nameEnd - cursor.nameStart);
                this.#extendPrefix(frame);
                this.#enter(cursor.bytes, cursor.oidAt, frame.directory, length + 1);
            }
            else {
                this.#addEntry(frame);
            }
        }
        return {
            tables: this.#tables,
            directories: this.#directories,
            needsGit: [...this.#needsGit],
            cacheTreeValid: this.#cacheTreeValid,
        };
    }
    #enter(oidBytes, oidAt, parent, prefixLength) {
        let bytes;
        try {
            bytes = this.#odb.read(oidBytes, oidAt);
        }
        catch (error) {
            if (!(error instanceof errors/* CheckoutError */.vd))
                throw error;
            const path = displayBytes(this.#prefix.subarray(0, Math.max(0, prefixLength - 1)));
            const what = path === '' ? 'the root tree' : `the tree of '${path}'`;
            throw new errors/* CheckoutError */.vd(error.code, `cannot read ${what}: ${error.message}`, {
                ...error.subject,
                path: path === '' ? '.' : path,
            });
        }
        if (this.#odb.reader.type !== TREE) {
            const hex = oidToHex(oidBytes, oidAt);
            throw new errors/* CheckoutError */.vd('tree-invalid', `object ${hex} is a ${typeName(this.#odb.reader.type)}, not a tree`, {
                oid: hex,
            });
        }
        const directories = this.#directories;
        const { maxDirectories = MAX_DIRECTORIES } = this.#options;
        if (directories.count >= maxDirectories)
            throw this.#invalidTree('', `has more than ${maxDirectories} directories`);
        for (const { directory } of this.#frames) {
            if (oidEquals(directories.oids, directory * OID_BYTES, oidBytes, oidAt)) {
                throw this.#invalidTree(displayBytes(this.#prefix.subarray(0, prefixLength)), 'contains itself');
            }
        }
        if (directories.count === directories.parent.length)
            this.#directories = growDirectories(directories);
        const number = this.#directories.count++;
        this.#directories.parent[number] = parent;
        this.#directories.pathLength[number] = Math.max(0, prefixLength - 1);
        this.#directories.firstEntry[number] = this.#tables.count;
        this.#directories.oids.set(oidBytes.subarray(oidAt, oidAt + OID_BYTES), number * OID_BYTES);
        // The reader's bytes last until the next read only. Node's `slice` of a Buffer would not copy.
        const cursor = new TreeCursor(new Uint8Array(bytes));
        this.#odb.reader.finish();
        this.#frames.push({
            cursor,
            directory: number,
            prefixLength,
            previousStart: 0,
            previousEnd: 0,
            previousIsTree: false,
            candidates: [],
        });
        this.#options.conversions.enterDirectory(cursor, this.#prefix.subarray(0, Math.max(0, prefixLength - 1)));
        cursor.rewind();
    }
    #leave(frame) {
        this.#frames.pop();
        const directories = this.#directories;
        const count = this.#tables.count - (directories.firstEntry[frame.directory] ?? 0);
        directories.entryCount[frame.directory] = count;
        // git makes no directory for an empty tree.
        if (count === 0 && frame.directory > 0)
            this.#cacheTreeValid = false;
    }
    #addEntry(frame) {
        const tables = this.#tables;
        const { cursor, prefixLength } = frame;
        const entry = tables.count;
        const { maxEntries = MAX_ENTRIES } = this.#options;
        if (entry >= maxEntries)
            throw this.#invalidTree('', `has more than ${maxEntries} entries`);
        if (entry + 1 > tables.modes.length)
            growEntries(tables);
        const pathStart = tables.pathOffsets[entry] ?? 0;
        const nameLength = cursor.nameEnd - cursor.nameStart;
        const pathEnd = pathStart + prefixLength + nameLength;
        if (pathEnd - pathStart > this.#options.maxPathBytes) {
            this.#needsGit.add('a path is too long to be opened by its absolute name');
        }
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
                this.#needsGit.add('a tree has a name with a slash in it');
            pathBytes[at++] = byte;
        }
        tables.pathOffsets[entry + 1] = pathEnd;
        // Some rules for links look at the whole path.
        if (cursor.mode === tree_MODE_SYMLINK)
            this.#refuse(invalidComponent(pathBytes, pathStart, pathEnd, true, this.#options.rules), frame);
        for (let i = 0, at = entry * OID_BYTES; i < OID_BYTES; i++)
            tables.oids[at + i] = bytes[cursor.oidAt + i] ?? 0;
        tables.modes[entry] = cursor.mode;
        tables.directories[entry] = frame.directory;
        if (cursor.mode !== tree_MODE_GITLINK && cursor.mode !== tree_MODE_SYMLINK) {
            tables.conversions[entry] = this.#options.conversions.lookUp(pathBytes, pathStart, pathEnd);
        }
        tables.count = entry + 1;
        const { many } = this.#options;
        if (cursor.mode !== tree_MODE_GITLINK && cursor.mode !== tree_MODE_SYMLINK)
            this.#files++;
        if (!this.#notified && many !== undefined && this.#files >= many.files) {
            this.#notified = true;
            many.notify();
        }
    }
    #checkName(frame) {
        const { cursor } = frame;
        const reason = invalidComponent(cursor.bytes, cursor.nameStart, cursor.nameEnd, cursor.mode === tree_MODE_SYMLINK, this.#options.rules);
        this.#refuse(reason, frame);
    }
    #refuse(reason, frame) {
        if (reason === null)
            return;
        const path = this.#entryDisplay(frame);
        throw new errors/* CheckoutError */.vd('path-invalid', `refusing to check out '${path}': ${reason}`, { path });
    }
    /**
     * Trees must be sorted as git sorts them, names of directories as if they ended in a slash, and no name may occur twice. A
     * file "a" and a directory "a" need not be neighbours ("a.b" sorts between them), so files that are a prefix of their
     * successor are remembered.
     */
    #checkOrder(frame) {
        const { cursor } = frame;
        const { bytes, nameStart, nameEnd } = cursor;
        const isTree = cursor.mode === MODE_TREE;
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
                this.#needsGit.add('a tree is not sorted or has a name twice');
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
                if (isTree && nameEnd - nameStart === length) {
                    this.#needsGit.add('a tree has a file and a directory of one name');
                }
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
                this.#needsGit.add('a tree has a name with a slash in it');
        }
    }
    /** `where` is the directory with its slash, empty for the root. */
    #invalidTree(where, how) {
        const path = where === '' ? '.' : where;
        return new errors/* CheckoutError */.vd('tree-invalid', `the ${where === '' ? 'root tree' : `tree of '${where}'`} ${how}`, {
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
function newDirectories(capacity) {
    return {
        count: 0,
        parent: new Int32Array(capacity),
        pathLength: new Uint32Array(capacity),
        firstEntry: new Uint32Array(capacity),
        entryCount: new Uint32Array(capacity),
        oids: new Uint8Array(capacity * OID_BYTES),
    };
}
function growDirectories(directories) {
    const grown = newDirectories(directories.parent.length * 2);
    grown.count = directories.count;
    grown.parent.set(directories.parent);
    grown.pathLength.set(directories.pathLength);
    grown.firstEntry.set(directories.firstEntry);
    grown.entryCount.set(directories.entryCount);
    grown.oids.set(directories.oids);
    return grown;
}

;// CONCATENATED MODULE: external "node:worker_threads"
const external_node_worker_threads_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:worker_threads");
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
    begin(job, onFailure) {
        this.#onFailure = onFailure;
        this.#job = job;
        for (const { worker, id } of this.#members)
            worker.postMessage({ type: 'begin', id, job });
    }
    /** Runs a pass on all workers; settles when each has ended its part or died. */
    async pass(pass) {
        await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'pass', pass })));
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

;// CONCATENATED MODULE: ./build/js/engine/checkout/write-order.js
/**
 * In which order the entries are written: as their blobs lie in the packs, so that each pack is read once from front to back and the
 * members of a delta family come together. Fresh packs hold blobs mostly in tree order, so this is close to the order
 * of directories, too.
 */



/** Looks up where the blob of each PENDING or VERIFY entry is, and sorts. Fills `packs` and `offsets` of the tables. */
function orderWrites(tables, odb, count) {
    const missing = [];
    // A 64-bit key, built as two words so that no BigInt is made for an entry: offset (40 bits), then the entry (24 bits).
    const keysByPack = new Map();
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        if (state !== State.PENDING && state !== State.VERIFY)
            continue;
        if (!odb.find(tables.oids, entry * OID_BYTES)) {
            missing.push(entry);
            continue;
        }
        tables.packs[entry] = odb.pack;
        tables.offsets[entry] = odb.offset;
        let keys = keysByPack.get(odb.pack);
        if (keys === undefined) {
            keys = { words: new Uint32Array(2 * Math.max(1, keysByPack.size === 0 ? count : 1024)), count: 0 };
            keysByPack.set(odb.pack, keys);
        }
        if (2 * keys.count === keys.words.length) {
            const grown = new Uint32Array(keys.words.length * 2);
            grown.set(keys.words);
            keys.words = grown;
        }
        // Loose objects keep the order of their paths.
        const offset = odb.pack === LOOSE ? 0 : odb.offset;
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
    return { order, positions, missing };
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/checkout-tree.js
/**
 * Brings the working tree to a commit's tree: the stages of a checkout in their order. Nothing is touched before the manifest is
 * complete and every path in it was checked; the index is written last, through its lock, which the caller holds.
 */



























/** This tree needs git, found out before anything was touched. */
class NeedsGit extends Error {
    reasons;
    constructor(reasons) {
        super(reasons.join('; '));
        this.reasons = reasons;
    }
}
/** How often progress is told. */
const PROGRESS_MS = 100;
/** Directories are made this many entries at a time before workers are told, so that they are not told for each file. */
const READY_STEP = 256;
class PhaseClock {
    phases = [];
    #start = performance.now();
    end(name) {
        const now = performance.now();
        this.phases.push({ name, ms: now - this.#start });
        this.#start = now;
    }
}
/**
 * Checks the tree out.
 * @throws NeedsGit, CheckoutError; the lock is then released by the caller, and the old index stays
 */
async function checkoutTree(request) {
    const clock = new PhaseClock();
    const pool = new WorkerPool();
    try {
        const prepared = prepare(request, pool);
        clock.end('manifest');
        stopIfAborted(request);
        request.beforeTouching?.();
        return await write(request, prepared, pool, clock);
    }
    catch (error) {
        pool.dismiss();
        throw error;
    }
}
/** Makes the manifest and the plan; starts workers as soon as it is clear that there is work for them. */
function prepare(request, pool) {
    const paths = new WorktreePaths(request.workTree);
    const { rootIsEmpty } = request;
    const many = request.plan(Number.MAX_SAFE_INTEGER).workers;
    const manifest = manifest_buildManifest(request.odb, request.treeOid, {
        rules: request.rules,
        maxPathBytes: maxPathBytes(process.platform) - paths.rootBytes,
        conversions: request.conversions,
        // With nothing on disk every entry will be written, so threads can start while trees are read.
        ...(rootIsEmpty && many > 0
            ? { many: { files: firstCountWith(request.plan, many), notify: () => pool.start(many) } }
            : {}),
    });
    const reasons = [...manifest.needsGit];
    for (const conversion of request.conversionList()) {
        if (conversion.kind === 'git')
            reasons.push(conversion.reason ?? 'a conversion that only git does');
    }
    if (reasons.length > 0)
        throw new NeedsGit(reasons);
    const comparison = request.index === null
        ? compareWithNothing(manifest.tables)
        : compareWithIndex(manifest.tables, request.index, paths, request.statComparison);
    const plan = request.plan(comparison.toWrite);
    if (plan.workers > pool.size)
        pool.start(plan.workers - pool.size);
    return { manifest, comparison, plan, paths, rootIsEmpty };
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
        throw (0,errors/* ioError */.bD)('read', workTree, error);
    }
}
function stopIfAborted(request) {
    if (request.signal?.aborted === true)
        throw new errors/* CheckoutError */.vd('interrupted', 'interrupted; the old index stays');
}
async function write(request, prepared, pool, clock) {
    const { manifest, comparison, plan, paths } = prepared;
    const { tables } = manifest;
    const failures = new Map();
    const { order, positions, missing: absent } = orderWrites(tables, request.odb, comparison.toWrite);
    for (const entry of absent)
        fail(tables, failures, entry, missing(tables.oids, entry * OID_BYTES));
    const control = createControl();
    const job = {
        tables,
        control,
        counters: createCounters(pool.size),
        budget: Budget.create(request.objectBudget(plan), pool.size),
        packs: request.odb.packs,
        objectDirectories: request.odb.directories,
        workTree: request.workTree,
        conversions: request.conversionList(),
        platform: process.platform,
    };
    const onFailure = (entry, error) => {
        failures.set(entry, errors/* CheckoutError */.vd.fromJSON(error));
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
    const mainWriter = new EntryWriter(job, 0, onFailure, () => {
        mainMeter.sample();
    });
    try {
        const removed = request.index === null
            ? { count: 0, warnings: [] }
            : removeTracked(request.index, comparison.removals, paths, request.keep);
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
        };
        const threads = plan.workers > 0 && pool.size > 0;
        if (threads)
            pool.begin(job, onFailure);
        const running = threads ? pool.pass(first) : null;
        const directories = new LeadingDirectories(manifest.directories, tables, paths, prepared.rootIsEmpty, request.keep);
        try {
            await clearWay(request, prepared, order, directories, control, failures);
        }
        catch (error) {
            stop();
            await running;
            throw error;
        }
        clock.end('clear');
        const skeleton = new IndexSkeleton(tables, cacheTreeOf(manifest));
        const runHere = async (pass) => {
            while (writeBatch(job, pass, mainWriter)) {
                mainMeter.sample();
                await (0,promises_namespaceObject.setImmediate)();
            }
        };
        await (running ?? runHere(first));
        const second = secondPass(first, control);
        if (second !== null)
            await (threads ? pool.pass(second) : runHere(second));
        const result = await pool.end();
        stopIfAborted(request);
        await writeRemaining(request, prepared, directories, mainWriter, failures);
        clock.end('write');
        writeLater(request, prepared, directories, failures);
        clock.end('links');
        stopIfAborted(request);
        const counts = settle(tables);
        request.lock.writeAndCommit(skeleton.finish(tables.stats));
        clock.end('index');
        const mainCost = mainMeter.cost(mainWriter);
        const workers = mainWriter.files > 0 || !threads ? [mainCost, ...result.costs] : result.costs;
        return {
            plan,
            phases: clock.phases,
            workers,
            files: counts.written,
            kept: counts.kept,
            removed: removed.count,
            bytesWritten: workers.reduce((sum, cost) => sum + cost.bytesWritten, 0),
            failures: [...failures.entries()].sort((a, b) => a[0] - b[0]).map(([, error]) => error),
            deaths: result.deaths,
        };
    }
    finally {
        stop();
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
/** Makes directories and removes what is in the way, in write order, letting the workers follow. */
async function clearWay(request, prepared, order, directories, control, failures) {
    const { tables } = prepared.manifest;
    const publish = (ready) => {
        Atomics.store(control, READY, ready);
        Atomics.notify(control, READY);
    };
    for (let i = 0; i < order.length; i++) {
        const entry = order[i] ?? 0;
        if (i % READY_STEP === 0 && i > 0) {
            // Where names fold, a removal for one entry could hit what a worker has just written for another.
            if (!request.ignoreCase)
                publish(i);
            // Let signals through now and then.
            if (i % (16 * READY_STEP) === 0) {
                await (0,promises_namespaceObject.setImmediate)();
                stopIfAborted(request);
            }
        }
        const existed = directories.ensure(tables.directories[entry] ?? 0);
        if (existed && tables.states[entry] !== State.VERIFY)
            clearOrFail(request, prepared, failures, entry);
    }
    publish(order.length);
}
/** Removes what is in an entry's way; where that fails the entry has failed, and the others go on. */
function clearOrFail(request, prepared, failures, entry) {
    try {
        clearEntry(prepared.manifest.tables, entry, prepared.paths, request.keep);
        return true;
    }
    catch (error) {
        if (!(error instanceof errors/* CheckoutError */.vd))
            throw error;
        fail(prepared.manifest.tables, failures, entry, error);
        return false;
    }
}
/** Writes in the main thread, in index order, what no worker did: entries of workers that died, and collisions. */
async function writeRemaining(request, prepared, directories, writer, failures) {
    const { tables } = prepared.manifest;
    directories.forget();
    for (let entry = 0; entry < tables.count; entry++) {
        const state = tables.states[entry];
        if (state !== State.COLLIDED && !checkout_tree_isOpen(state))
            continue;
        stopIfAborted(request);
        // A worker that died may have left a part of the file; a collision, another file.
        directories.ensure(tables.directories[entry] ?? 0);
        if (!clearOrFail(request, prepared, failures, entry))
            continue;
        tables.states[entry] = State.PENDING;
        writer.write(entry, null);
        writer.dropRetained();
        await (0,promises_namespaceObject.setImmediate)();
    }
}
function checkout_tree_isOpen(state) {
    return state === State.PENDING || state === State.VERIFY;
}
/** Makes links and submodule directories, in index order. */
function writeLater(request, prepared, directories, failures) {
    const { tables } = prepared.manifest;
    for (let entry = 0; entry < tables.count; entry++) {
        if (tables.states[entry] !== State.LATER)
            continue;
        const start = tables.pathOffsets[entry] ?? 0;
        const end = tables.pathOffsets[entry + 1] ?? 0;
        try {
            const existed = directories.ensure(tables.directories[entry] ?? 0);
            let made;
            if (tables.modes[entry] === tree_MODE_GITLINK) {
                if (existed)
                    clearEntry(tables, entry, prepared.paths, request.keep);
                made = createGitlinkDirectory(prepared.paths.absolute(tables.pathBytes, start, end));
            }
            else {
                const target = readLinkTarget(request.odb, tables, entry);
                // Stat data from the old index: the link matched them, but may have been changed in the same second.
                const matched = tables.stats[entry * tables_STAT_WORDS + STAT.mtimeSeconds] !== 0;
                if (matched && linkHasTarget(prepared.paths.absolute(tables.pathBytes, start, end), target)) {
                    tables.states[entry] = State.KEPT;
                    continue;
                }
                if (existed)
                    clearEntry(tables, entry, prepared.paths, request.keep);
                const path = prepared.paths.absolute(tables.pathBytes, start, end);
                made = createLink(path, target);
                if (made === null) {
                    clearEntry(tables, entry, prepared.paths, request.keep);
                    made = createLink(prepared.paths.absolute(tables.pathBytes, start, end), target);
                }
            }
            if (made === null)
                throw (0,errors/* bug */.jr)('a link that cannot be put in place');
            statToWords(made, process.platform, tables.stats, entry * tables_STAT_WORDS, tables.modes[entry] ?? 0);
            tables.states[entry] = State.WRITTEN;
        }
        catch (error) {
            fail(tables, failures, entry, error);
        }
    }
}
function readLinkTarget(odb, tables, entry) {
    const content = odb.read(tables.oids, entry * OID_BYTES);
    if (odb.reader.type !== BLOB)
        throw new errors/* CheckoutError */.vd('object-corrupt', 'the link target is not a blob');
    const target = Buffer.from(bufferOver(content));
    odb.reader.finish();
    return target;
}
function fail(tables, failures, entry, error) {
    const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    tables.states[entry] = State.FAILED;
    if (error instanceof errors/* CheckoutError */.vd) {
        failures.set(entry, new errors/* CheckoutError */.vd(error.code, `cannot write '${path}': ${error.message}`, { ...error.subject, path }));
    }
    else {
        const kind = tables.modes[entry] === tree_MODE_SYMLINK ? 'create the link' : 'write';
        failures.set(entry, (0,errors/* ioError */.bD)(kind, path, error));
    }
}
/** Counts the final states. Stat data of failed entries are cleared, so that git looks at them. */
function settle(tables) {
    let written = 0;
    let kept = 0;
    for (let entry = 0; entry < tables.count; entry++) {
        switch (tables.states[entry]) {
            case State.WRITTEN:
                written++;
                break;
            case State.KEPT:
                kept++;
                break;
            case State.FAILED:
                tables.stats.fill(0, entry * tables_STAT_WORDS, (entry + 1) * tables_STAT_WORDS);
                break;
            default:
                throw (0,errors/* bug */.jr)(`entry ${entry} ended without a state`);
        }
    }
    return { written, kept };
}
function cacheTreeOf(manifest) {
    if (!manifest.cacheTreeValid)
        return null;
    const { directories, tables } = manifest;
    const nameStart = new Uint32Array(directories.count);
    const nameEnd = new Uint32Array(directories.count);
    for (let i = 1; i < directories.count; i++) {
        const pathStart = tables.pathOffsets[directories.firstEntry[i] ?? 0] ?? 0;
        const parent = directories.parent[i] ?? 0;
        nameStart[i] = pathStart + (parent === 0 ? 0 : (directories.pathLength[parent] ?? 0) + 1);
        nameEnd[i] = pathStart + (directories.pathLength[i] ?? 0);
    }
    return serializeCacheTree({
        count: directories.count,
        parent: directories.parent,
        nameStart,
        nameEnd,
        entryCount: directories.entryCount,
        oids: directories.oids,
    }, tables.pathBytes);
}

;// CONCATENATED MODULE: ./build/js/engine/index/parse-index.js
/**
 * Reading an index file, versions 2, 3 and 4, into flat tables. The file decides what a checkout removes, so a damaged or
 * forged one must end in an error: every length is checked against the file before anything of that size is allocated,
 * the order is checked, and so are the paths. Format: gitformat-index.
 */







const parse_index_HEADER_BYTES = 12;
const parse_index_STAT_BYTES = 4 * STAT_WORDS;
const parse_index_FLAGS_AT = parse_index_STAT_BYTES + OID_BYTES;
/** Least size of an entry in every version: stat, id, flags and 2 bytes that end or pad the name. */
const LEAST_ENTRY_BYTES = parse_index_FLAGS_AT + 4;
const NAME_LENGTH_MASK = 0xfff;
/**
 * Version 4 shares prefixes, so a small file can stand for very long names. No path that a system opens is longer than
 * PATH_MAX (4096 on Linux), and an entry has at least 64 bytes: an honest file unfolds to at most 64 times its size.
 */
const MOST_UNFOLDING = 4096 / LEAST_ENTRY_BYTES;
/** git knows nine extensions. */
const MOST_EXTENSIONS = 64;
/** Node reads at most this much at once, and Uint32Array offsets must hold the paths. */
const MOST_FILE_BYTES = 0x7fff_ffff;
/** Paths that no index may hold, whatever the configuration: those that leave the working tree or enter `.git`. */
const ALWAYS = { ntfs: false, hfs: false, windows: false };
/**
 * Parses a whole index file with its 20-byte trailer (the trailer itself is checked by `readIndex`). `displayPath` names
 * the file in errors. Extensions are handed over unread: whether 'link' (split index) or 'sdir' (sparse index) are
 * supported is the caller's decision. With 'link' the entries are only the difference to a shared index: some have
 * empty paths, and their order says nothing.
 *
 * @throws CheckoutError index-corrupt
 */
function parseIndex(bytes, displayPath, time) {
    const reader = new IndexReader(bytes, displayPath);
    return reader.read(time ?? { mtimeSeconds: 0, mtimeNanoseconds: 0 });
}
/**
 * Reads and parses the index file at `path`; null when there is none. The trailing hash is verified unless it is all zeros
 * (index.skipHash), which git itself leaves to fsck.
 *
 * @throws CheckoutError index-corrupt, io
 */
function parse_index_readIndex(path) {
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
        if ((0,errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return null;
        throw (0,errors/* ioError */.bD)('read the index', path, error);
    }
    const table = parseIndex(bytes, path, time);
    const end = bytes.length - OID_BYTES;
    const trailer = bytes.subarray(end);
    if (trailer.some((byte) => byte !== 0)) {
        const digest = (0,external_node_crypto_.createHash)('sha1').update(bytes.subarray(0, end)).digest();
        if (!digest.equals(trailer))
            throw corrupt(path, 'its checksum does not match');
    }
    return table;
}
function readAll(descriptor, size, path) {
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    while (at < size) {
        const got = (0,external_node_fs_.readSync)(descriptor, bytes, at, size - at, at);
        if (got === 0)
            throw corrupt(path, 'it became shorter while it was read');
        at += got;
    }
    return bytes;
}
function corrupt(displayPath, what) {
    return new errors/* CheckoutError */.vd('index-corrupt', `index file '${displayPath}' is corrupt: ${what}`, { path: displayPath });
}
/** One pass that checks lengths and finds where names end, then the extensions, then a pass that fills the tables. */
class IndexReader {
    bytes;
    view;
    displayPath;
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
    constructor(bytes, displayPath) {
        this.bytes = bufferOver(bytes);
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        this.displayPath = displayPath;
        this.end = bytes.length - OID_BYTES;
    }
    read(time) {
        this.readHeader();
        const { count, bytes, view } = this;
        const pathOffsets = new Uint32Array(count + 1);
        const extensionsAt = this.measure(pathOffsets);
        const extensions = this.readExtensions(extensionsAt);
        const pathBytes = new Uint8Array(pathOffsets[count]);
        const oids = new Uint8Array(count * OID_BYTES);
        const modes = new Uint32Array(count);
        const stats = new Uint32Array(count * STAT_WORDS);
        const flags = new Uint16Array(count);
        const extendedFlags = new Uint16Array(count);
        let at = parse_index_HEADER_BYTES;
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
            for (let b = 0; b < OID_BYTES; b++)
                oids[i * OID_BYTES + b] = bytes[at + parse_index_STAT_BYTES + b];
            modes[i] = this.checkMode(view.getUint32(at + 4 * STAT.mode), i);
            flags[i] = view.getUint16(at + parse_index_FLAGS_AT) & ~NAME_LENGTH_MASK;
            extendedFlags[i] = this.extendedFlags;
            at = this.next;
        }
        const table = {
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
            this.checkPaths(table);
        return table;
    }
    readHeader() {
        const { bytes, view } = this;
        if (bytes.length < parse_index_HEADER_BYTES + OID_BYTES)
            throw this.error(`it has only ${bytes.length} bytes`);
        if (bytes.toString('latin1', 0, 4) !== 'DIRC')
            throw this.error('it has no index header');
        const version = view.getUint32(4);
        if (version !== 2 && version !== 3 && version !== 4)
            throw this.error(`version ${version} is unknown`);
        this.version = version;
        this.count = view.getUint32(8);
        if (this.count * LEAST_ENTRY_BYTES > this.end - parse_index_HEADER_BYTES) {
            throw this.error(`${this.count} entries do not fit its ${bytes.length} bytes`);
        }
    }
    /** Fills `pathOffsets` and returns where the entries end. */
    measure(pathOffsets) {
        const most = Math.min(this.bytes.length * MOST_UNFOLDING, MOST_FILE_BYTES);
        let at = parse_index_HEADER_BYTES;
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
        const { bytes, view, end, version } = this;
        if (at + LEAST_ENTRY_BYTES > end)
            throw this.error(`it ends within entry ${i}`);
        const flags = view.getUint16(at + parse_index_FLAGS_AT);
        let nameAt = at + parse_index_FLAGS_AT + 2;
        this.extendedFlags = 0;
        if ((flags & FLAG.extended) !== 0) {
            this.extendedFlags = view.getUint16(nameAt);
            if ((this.extendedFlags & ~(EXTENDED_FLAG.skipWorktree | EXTENDED_FLAG.intentToAdd)) !== 0) {
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
    checkPaths(table) {
        const { count, pathBytes, pathOffsets, modes, flags } = table;
        for (let i = 0; i < count; i++) {
            const start = pathOffsets[i];
            let end = pathOffsets[i + 1];
            if (i > 0) {
                const order = parse_index_comparePaths(pathBytes, pathOffsets[i - 1], start, start, end);
                const stageBefore = (flags[i - 1] & FLAG.stage) >> FLAG_STAGE_SHIFT;
                const stage = (flags[i] & FLAG.stage) >> FLAG_STAGE_SHIFT;
                if (order > 0)
                    throw this.error(`entries ${i - 1} and ${i} are not in order`);
                if (order === 0 && (stageBefore === 0 || stageBefore >= stage)) {
                    throw this.error(`entries ${i - 1} and ${i} have the same path`);
                }
            }
            const type = modes[i] & MODE.typeMask;
            if (type === MODE.directory && end > start && pathBytes[end - 1] === 0x2f)
                end--;
            const reason = invalidComponent(pathBytes, start, end, type === MODE.symlink, ALWAYS);
            if (reason !== null)
                throw this.error(`the path of entry ${i} is refused: ${reason}`);
        }
    }
    error(what) {
        return corrupt(this.displayPath, what);
    }
}
/** Order of two paths in one table: by bytes, the shorter first. */
function parse_index_comparePaths(bytes, aStart, aEnd, bStart, bEnd) {
    const length = Math.min(aEnd - aStart, bEnd - bStart);
    for (let i = 0; i < length; i++) {
        const order = bytes[aStart + i] - bytes[bStart + i];
        if (order !== 0)
            return order;
    }
    return aEnd - aStart - (bEnd - bStart);
}

;// CONCATENATED MODULE: ./build/js/engine/odb/alternates.js
/**
 * Object directories: a repository's own and those that it borrows from (gitrepository-layout, objects/info/alternates).
 */



/** git reads the alternates of alternates this deep: of the repository itself (0) and of five borrowed directories in a row. */
const MAX_DEPTH = 5;
/** An alternates file is a list of paths; one larger than this is not one. */
const MAX_FILE_BYTES = 1 << 20;
const alternates_ESCAPES = {
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
        const escape = alternates_ESCAPES[next];
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
 */
function alternates_objectDirectories(ownDirectory, environmentList, warn) {
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
                throw (0,errors/* ioError */.bD)('open', directory, error);
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
    for (const entry of parseList(Buffer.from(environmentList, 'utf8'), separator))
        add(entry, 1, false);
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
        if ((0,errors/* errnoOf */.UQ)(error) === 'ENOENT' || (0,errors/* errnoOf */.UQ)(error) === 'ENOTDIR')
            return [];
        throw (0,errors/* ioError */.bD)('read', path, error);
    }
    return bytes.length > MAX_FILE_BYTES ? [] : parseList(bytes, '\n');
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
    return new errors/* CheckoutError */.vd('unknown-revision', `'${displayName(text)}' ${why}`, { option: displayName(text) });
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
    throw new errors/* CheckoutError */.vd('unknown-revision', `the ref '${displayName(name)}' leads through too many symbolic refs`);
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
        const errno = (0,errors/* errnoOf */.UQ)(error);
        // ENAMETOOLONG: no file has this name, and packed-refs may have the ref.
        if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'ENAMETOOLONG')
            return null;
        throw (0,errors/* ioError */.bD)('read ref', path, error);
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
    throw new errors/* CheckoutError */.vd('unknown-revision', `the ref '${displayName(name)}' is broken: its file holds neither an object id nor the name of a ref`, { option: displayName(name) });
}
/** The bytes of packed-refs, or null when there is none. */
function readPackedRefs(dirs) {
    const path = (0,external_node_path_.join)(dirs.commonDir, 'packed-refs');
    try {
        return (0,external_node_fs_.readFileSync)(path);
    }
    catch (error) {
        if ((0,errors/* errnoOf */.UQ)(error) === 'ENOENT')
            return null;
        throw (0,errors/* ioError */.bD)('read', path, error);
    }
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

;// CONCATENATED MODULE: ./build/js/engine/object/commit.js


/** The tree of a commit object, or null when its first line is not "tree <id>". */
function commitTree(bytes) {
    const match = /^tree ([0-9a-f]{40})\n/.exec(bufferOver(bytes, 0, Math.min(bytes.length, 46)).toString('latin1'));
    return match?.[1] === undefined ? null : oidFromHex(match[1]);
}
/** The object that a tag object names, or null when it is not well-formed. */
function tagTarget(bytes) {
    const match = /^object ([0-9a-f]{40})\n/.exec(bufferOver(bytes, 0, Math.min(bytes.length, 48)).toString('latin1'));
    return match?.[1] === undefined ? null : oidFromHex(match[1]);
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/peel.js
/**
 * From the object that a revision names to the tree that is checked out: tags are followed to a commit.
 */




/** Tags of tags are rare and short; a loop of them cannot be made without breaking SHA-1. */
const MOST_TAGS = 64;
/**
 * Follows tags from an object to a commit, and gives that commit's id and its tree's.
 * @throws CheckoutError unknown-revision when it leads to no commit, object-missing, object-corrupt
 */
function peel_peelToTree(odb, hex) {
    let oid = oidFromHex(hex);
    for (let depth = 0; depth < MOST_TAGS; depth++) {
        const bytes = odb.read(oid);
        const { type } = odb.reader;
        if (type === COMMIT) {
            const tree = commitTree(bytes);
            if (tree === null)
                break;
            return { commit: oidToHex(oid), tree: new Uint8Array(tree) };
        }
        const next = type === TAG ? tagTarget(bytes) : null;
        if (next === null) {
            throw new errors/* CheckoutError */.vd('unknown-revision', `object ${hex} is a ${typeName(type)}, not a commit`, { oid: hex });
        }
        oid = next;
    }
    throw new errors/* CheckoutError */.vd('object-corrupt', `object ${hex} does not lead to a tree`, { oid: hex });
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/count-files.js







/** Counting needs no attributes. */
const NO_CONVERSIONS = {
    enterDirectory: () => undefined,
    leaveDirectory: () => undefined,
    lookUp: () => 0,
};
/**
 * The number of regular files in the index or, without one, in HEAD's commit; null where this engine cannot tell (object
 * ids other than SHA-1).
 * @throws CheckoutError index-corrupt, object-missing and others of what is damaged
 */
function count_files_countFiles(repository, environment, warn) {
    if (repository.objectFormat !== 'sha1')
        return null;
    const index = readIndex(repository.indexPath);
    if (index !== null)
        return countRegular(index.modes, index.count);
    const head = resolveRef(repository, 'HEAD')?.oid ?? null;
    if (head === null)
        return 0;
    const alternates = environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '';
    const odb = ObjectDatabase.open(objectDirectories(repository.objectsDir, alternates, warn), warn);
    try {
        const { tables } = buildManifest(odb, peelToTree(odb, head).tree, {
            rules: { ntfs: false, hfs: false, windows: false },
            conversions: NO_CONVERSIONS,
            maxPathBytes: Infinity,
        });
        return countRegular(tables.modes, tables.count);
    }
    finally {
        odb.close();
    }
}
function countRegular(modes, count) {
    let files = 0;
    for (let i = 0; i < count; i++)
        if (modes[i] !== MODE_SYMLINK && modes[i] !== MODE_GITLINK)
            files++;
    return files;
}

;// CONCATENATED MODULE: ./build/js/engine/checkout/needs-git.js
/**
 * What a repository may have that our engine does not do itself yet. Looked for before anything is touched; docs/shortcomings.md lists
 * the same for users.
 */



/** Reasons that configuration and the git directory give, a phrase each. */
function repositoryNeedsGit(repository, config, environment) {
    const reasons = [];
    const when = (condition, reason) => {
        if (condition === true)
            reasons.push(reason);
    };
    when(repository.objectFormat !== 'sha1', `the repository uses ${repository.objectFormat}`);
    when(repository.refFormat !== 'files', `refs are kept in a ${repository.refFormat}`);
    when(config.getBool('core.sparseCheckout') === true && (0,external_node_fs_.existsSync)(repository.sparsePath), 'sparse checkout is on');
    when(config.getBool('core.splitIndex'), 'core.splitIndex is set');
    when(config.getBool('core.ignoreStat'), 'core.ignoreStat is set');
    when(config.getBool('core.symlinks') === false, 'core.symlinks is false');
    when(config.get('core.sharedRepository') !== undefined, 'core.sharedRepository is set');
    when(config.getBool('submodule.recurse'), 'submodule.recurse is set');
    const attributeTree = config.get('attr.tree') ?? environment['GIT_ATTR_SOURCE'];
    when(attributeTree !== undefined && attributeTree !== '', 'attributes are taken from another tree');
    when(hasReplaceRefs(repository, config, environment), 'replace refs are in use');
    when(isPartial(config), 'the repository is a partial clone');
    for (const hook of ['post-checkout', 'post-index-change']) {
        when(hookExists(hook, repository, config), `the ${hook} hook is to be run`);
    }
    return reasons;
}
/** Reasons that the current index gives. */
function indexNeedsGit(index) {
    const reasons = [];
    for (const { signature } of index.extensions) {
        if (signature === 'link')
            reasons.push('the index is split');
        else if (signature === 'sdir')
            reasons.push('the index is sparse');
        else if (/^[a-z]/.test(signature))
            reasons.push(`the index has the extension '${signature}'`);
    }
    let flagged = false;
    for (let i = 0; i < index.count && !flagged; i++) {
        // Stages of a merge are dealt with; assume-valid, skip-worktree and intent-to-add are not.
        flagged = ((index.flags[i] ?? 0) & 0xcfff) !== 0 || index.extendedFlags[i] !== 0;
    }
    if (flagged)
        reasons.push('the index has entries with flags');
    return reasons;
}
function isPartial(config) {
    if (config.get('extensions.partialClone') !== undefined)
        return true;
    return config.subsections('remote').some((name) => config.getBool(`remote.${name}.promisor`) === true);
}
function hasReplaceRefs(repository, config, environment) {
    if (environment['GIT_NO_REPLACE_OBJECTS'] !== undefined || config.getBool('core.useReplaceRefs') === false) {
        return false;
    }
    const base = environment['GIT_REPLACE_REF_BASE'] ?? 'refs/replace/';
    const path = base.endsWith('/') ? base : `${base}/`;
    try {
        if ((0,external_node_fs_.readdirSync)((0,external_node_path_.join)(repository.commonDir, path)).length > 0)
            return true;
    }
    catch (error) {
        if ((0,errors/* errnoOf */.UQ)(error) !== 'ENOENT' && (0,errors/* errnoOf */.UQ)(error) !== 'ENOTDIR')
            return true;
    }
    try {
        return (0,external_node_fs_.readFileSync)((0,external_node_path_.join)(repository.commonDir, 'packed-refs')).includes(` ${path}`);
    }
    catch (error) {
        return (0,errors/* errnoOf */.UQ)(error) !== 'ENOENT';
    }
}
function hookExists(name, repository, config) {
    const configured = config.get('core.hooksPath');
    const folder = configured === undefined
        ? (0,external_node_path_.join)(repository.commonDir, 'hooks')
        : (0,external_node_path_.isAbsolute)(configured)
            ? configured
            : // git expands ~ as well; a folder that we do not find has no hook for us to miss only if git finds none either.
                (0,external_node_path_.resolve)(repository.workTree, configured);
    if (configured?.startsWith('~') === true || configured?.startsWith('%') === true)
        return true;
    const path = (0,external_node_path_.join)(folder, name);
    try {
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

;// CONCATENATED MODULE: ./build/js/engine/config/append-section.js
/**
 * Adds a section to the end of a repository's configuration file, as `git config` does for a section that is not there
 * yet: one process less for a new remote or a new branch. Changing what is there is left to git.
 */


/** A value in the file's syntax: always quoted, since that is never wrong. */
function quoted(value) {
    if (value.includes('\0'))
        throw new errors/* CheckoutError */.vd('config-invalid', 'a configuration value has a NUL byte');
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
        throw new errors/* CheckoutError */.vd('config-invalid', "a configuration section's name has a line feed or NUL byte");
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
        if ((0,errors/* errnoOf */.UQ)(error) === 'EEXIST') {
            throw new errors/* CheckoutError */.vd('ref-locked', `'${path}.lock' exists: another git process may be running`, { path });
        }
        throw (0,errors/* ioError */.bD)('lock', path, error);
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
        throw (0,errors/* ioError */.bD)('write', file, error);
    }
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
            throw new errors/* CheckoutError */.vd('usage', `'${key}' is not a configuration key`, { option: '-c' });
        }
        if (value.includes('\0')) {
            throw new errors/* CheckoutError */.vd('usage', `the value of '${key}' has a NUL byte`, { option: '-c' });
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
     * Locks the ref file at `path`, making its directories.
     *
     * @throws CheckoutError 'ref-locked' when another process keeps the lock, 'io'
     */
    static acquire(path, timeoutMs = LOCK_TIMEOUT_MS) {
        const lockPath = `${path}.lock`;
        const deadline = Date.now() + timeoutMs;
        for (;;) {
            try {
                (0,external_node_fs_.mkdirSync)((0,external_node_path_.dirname)(path), { recursive: true });
                (0,external_node_fs_.closeSync)((0,external_node_fs_.openSync)(lockPath, 'wx', 0o666));
                return new ref_lock_RefLock(path, lockPath);
            }
            catch (error) {
                const errno = (0,errors/* errnoOf */.UQ)(error);
                // ENOENT: somebody removed the directory that we had just made.
                if (errno !== 'EEXIST' && errno !== 'ENOENT')
                    throw (0,errors/* ioError */.bD)('lock', path, error);
                if (Date.now() >= deadline) {
                    if (errno === 'ENOENT')
                        throw (0,errors/* ioError */.bD)('lock', path, error);
                    throw new errors/* CheckoutError */.vd('ref-locked', `cannot lock '${path}': '${lockPath}' exists; another git process may be running, or one has crashed`, { path: lockPath });
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
            throw (0,errors/* ioError */.bD)('write', this.lockPath, error);
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
                const errno = (0,errors/* errnoOf */.UQ)(error);
                // EPERM is how Windows says that the target is a directory.
                const directory = errno === 'EISDIR' || errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'EPERM';
                if (attempt > 0 || !directory || !this.clearDirectory())
                    throw (0,errors/* ioError */.bD)('update', this.path, error);
            }
        }
    }
    /** Gives the lock up; nothing when it was committed or given up before. */
    release() {
        if (!this.held)
            return;
        this.held = false;
        try {
            (0,external_node_fs_.unlinkSync)(this.lockPath);
        }
        catch (error) {
            if ((0,errors/* errnoOf */.UQ)(error) !== 'ENOENT')
                throw (0,errors/* ioError */.bD)('remove', this.lockPath, error);
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
        throw (0,errors/* ioError */.bD)('remove', path, error);
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
        throw (0,errors/* ioError */.bD)('remove', sequencer, error);
    }
}

// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __nccwpck_require__(161);
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
        if (stat === undefined)
            (0,external_node_fs_.mkdirSync)((0,external_node_path_.dirname)(path), { recursive: true });
        (0,external_node_fs_.appendFileSync)(path, line, { mode: 0o666 });
    }
    catch (error) {
        // The log of a branch that this one's name passes through ('a' against 'a/b'), left by that branch's deletion.
        if ((0,errors/* errnoOf */.UQ)(error) === 'ENOTDIR' && !beginsReflog(config, name))
            return;
        throw (0,errors/* ioError */.bD)('append to', path, error);
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
        const errno = (0,errors/* errnoOf */.UQ)(error);
        if (errno === 'ENOENT' || errno === 'ENOTDIR')
            return null;
        throw (0,errors/* ioError */.bD)('read', folder, error);
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
 *   'unknown-revision', 'unsupported' (the branch is a symbolic ref: git's to do), 'io'
 */
function prepareHeadUpdate(facts, change) {
    const locks = [];
    const abort = () => {
        for (const lock of locks.splice(0))
            lock.release();
    };
    try {
        return head_update_prepare(facts, change, locks, abort);
    }
    catch (error) {
        abort();
        throw error;
    }
}
function head_update_prepare(facts, change, locks, abort) {
    const { dirs, config } = facts;
    const timeout = config.getInt('core.filesRefLockTimeout');
    const lock = (name) => {
        const taken = ref_lock_RefLock.acquire(ref_names_refPath(dirs, name), timeout);
        locks.push(taken);
        return taken;
    };
    const headLock = lock('HEAD');
    const head = readRef(dirs, 'HEAD');
    const onBranch = head?.kind === 'symbolic' ? head.target : null;
    const headOid = read_refs_resolveRef(dirs, 'HEAD')?.oid ?? null;
    const from = (onBranch === null ? null : branchOf(onBranch)) ?? headOid ?? '(invalid)';
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
        throw new errors/* CheckoutError */.vd('usage', `'${displayName(refName)}' is not a valid branch name`, {
            option: displayName(refName),
        });
    }
    if (onBranch !== refName)
        refuseBranchInUse(facts, refName, branch);
    const branchLock = change.kind === 'reset-branch' ? lockBranch(facts, refName, lock) : null;
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
                    log(refName, oldOid, newOid, text);
                if (onBranch === refName) {
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
    throw new errors/* CheckoutError */.vd('ref-locked', `the branch '${displayName(branch)}' is already used by the working tree at '${path}'`, { path });
}
/** Locks a branch that will be written, and finds what its file would collide with. */
function lockBranch({ dirs }, refName, lock) {
    const conflict = (other) => new errors/* CheckoutError */.vd('ref-locked', `cannot make '${displayName(refName)}' while '${displayName(other)}' exists`, {
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
        throw (0,errors/* ioError */.bD)('clear', path, error);
    }
    if (readRef(dirs, refName)?.kind === 'symbolic') {
        throw new errors/* CheckoutError */.vd('unsupported', `the branch '${displayName(refName)}' is a symbolic ref`, {
            option: displayName(refName),
        });
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
    if (isHexOid(ref.toLowerCase()) || /^[0-9a-f]{64}$/i.test(ref))
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
            return new errors/* CheckoutError */.vd(code, `${what} failed: ${show(line, redact)}`);
    }
    const telling = lines.filter((line) => /^(fatal|error|ERROR|ssh|remote): /.test(line) && !SAYS_NOTHING.test(line));
    const line = telling.find((each) => each.startsWith('fatal: ')) ??
        telling.find((each) => !each.startsWith('remote: ')) ??
        telling[0] ??
        lines.find((each) => each.startsWith('fatal: ')) ??
        lines.at(-1) ??
        `git ended with status ${exitCode}`;
    return new errors/* CheckoutError */.vd('fetch-failed', `${what} failed: ${show(line, redact)}`);
}
function show(line, redact) {
    const text = displayBytes(Buffer.from(redact(line.replace(/^(fatal|error): /, ''))));
    return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

;// CONCATENATED MODULE: ./build/js/engine/fetch/fetch-progress.js
const UNITS = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** The numbers of a "Receiving objects" line, objects counted as files; null for any other line. */
function receivingProgress(line) {
    const match = /^Receiving objects:\s+\d+% \((\d+)\/(\d+)\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?/.exec(line);
    if (match === null)
        return null;
    const bytes = match[3] === undefined ? 0 : Number(match[3]) * (UNITS[match[4]] ?? 1);
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
        throw new errors/* CheckoutError */.vd('usage', 'a depth and a complete history exclude each other', { option: 'depth' });
    }
    if (depth !== undefined && !(Number.isSafeInteger(depth) && depth > 0 && depth < 2 ** 31)) {
        throw new errors/* CheckoutError */.vd('usage', `'${depth}' is not a depth: it must be a whole number above 0`, {
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
        const format = objectFormat === undefined ? [] : [`--object-format=${objectFormat}`];
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
    return parseRemoteHead(result.stdout.toString('utf8'));
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
    const repository = await initForClone(resolve(cwd, request.directory), url, ports, options);
    try {
        attempts ??= planCloneRefspecs(ref, depth, await askRemoteHead(url, ports, options));
        const { directory } = repository;
        const dirs = { gitDir: join(directory, '.git'), commonDir: join(directory, '.git') };
        const reflogMessage = `clone: from ${redactUrls(url)}`;
        const fetched = attempts.length === 0 ? null : await fetchFirst(request, directory, attempts, ports, env);
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

;// CONCATENATED MODULE: ./build/js/engine/gitdir/git-executable.js
/**
 * Which git to start. On Windows a bare `git` is looked up in the child's current directory first, and that directory
 * is the repository being checked out: a `git.exe` committed there would run. So on Windows the file is looked up here,
 * in PATH alone, and started by its full path. Elsewhere the kernel's lookup knows PATH only.
 */


/** Whether `path` is a file. A folder of PATH that may not be read, or is no folder, has none. */
function isFile(path) {
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
function findGit(environment, platform, exists = isFile) {
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

;// CONCATENATED MODULE: ./build/js/engine/config/config-values.js
const config_values_UNITS = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
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
    const value = magnitude * config_values_UNITS[match[3].toLowerCase()] * (match[1] === '-' ? -1 : 1);
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
                throw new errors/* CheckoutError */.vd('config-invalid', "the answer of 'git config --list' ends too early");
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
        throw new errors/* CheckoutError */.vd('config-invalid', `the value of '${key}' (${from}) ${what}`, { option: key });
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
        throw new errors/* CheckoutError */.vd('config-invalid', said === '' ? 'git config --list failed' : said);
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
        return new errors/* CheckoutError */.vd('unsupported-repository', `${said}${detail}`, { path: directory });
    }
    if (/\bconfig\b/.test(line) && /\b(bad|invalid)\b/.test(line)) {
        return new errors/* CheckoutError */.vd('config-invalid', said, { path: directory });
    }
    const remedy = line.includes('dubious ownership')
        ? "; 'git config --global --add safe.directory PATH' allows it"
        : '';
    return new errors/* CheckoutError */.vd('not-a-repository', said === '' ? `not a git repository: '${directory}'` : said + remedy, {
        path: directory,
    });
}
/** A path of git's answer as a string; one that is not UTF-8 cannot be opened by a string and is refused. */
function pathOf(line, base) {
    const text = line.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(line)) {
        throw new errors/* CheckoutError */.vd('not-a-repository', `the path '${displayBytes(line)}' is not valid UTF-8`, {
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
        if ((0,errors/* errnoOf */.UQ)(error) === 'ENOENT') {
            throw new errors/* CheckoutError */.vd('not-a-repository', `no such directory: '${location.directory}'`, {
                path: location.directory,
                errno: 'ENOENT',
            });
        }
        throw (0,errors/* ioError */.bD)('open directory', location.directory, error);
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
            throw new errors/* CheckoutError */.vd('not-a-repository', bare
                ? `'${gitDir}' is a bare repository; give it a working tree with --work-tree`
                : `'${directory}' is not inside the working tree of '${gitDir}'`, { path: gitDir });
        }
        throw repositoryError(result.stderr, directory);
    }
    if (lines.length !== ANSWERS) {
        // A line feed in a path makes more lines than answers, and nothing tells which belongs where.
        throw new errors/* CheckoutError */.vd('not-a-repository', `the path of the repository at '${directory}' has a line feed in it`, {
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
        objectFormat: lines[2].toString() === 'sha256' ? 'sha256' : 'sha1',
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



const file_system_UNKNOWN = { type: 'unknown', network: false };
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
    return family === undefined ? file_system_UNKNOWN : named(family);
}
/**
 * macOS numbers its file systems in the order in which they are registered, so a number says nothing by itself; but
 * the system volume has been APFS in every release that Node 24 runs on.
 */
function macFileSystem(magic, rootMagic) {
    return magic !== null && magic === rootMagic ? named('apfs') : file_system_UNKNOWN;
}
/**
 * Windows gives no type without starting a process. But a share, mapped to a drive letter or not, has a real path of
 * the form \\server\share; \\wsl$ and \\wsl.localhost are Linux's files served over 9P.
 */
function windowsFileSystem(realPath) {
    const share = /^\\\\(?:\?\\UNC\\)?([^\\?.][^\\]*)\\/i.exec(realPath);
    if (share === null)
        return file_system_UNKNOWN;
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
     * less the umask. core.sharedRepository is not looked at: there the
     * index has this mode until git itself writes it the next time.
     *
     * @throws CheckoutError index-locked when another process holds it, io otherwise
     */
    static acquire(indexPath) {
        const target = behindLinks(indexPath);
        const lockPath = `${target}.lock`;
        try {
            return new IndexLock(target, lockPath, (0,external_node_fs_.openSync)(lockPath, 'wx', 0o666));
        }
        catch (error) {
            if ((0,errors/* errnoOf */.UQ)(error) !== 'EEXIST')
                throw (0,errors/* ioError */.bD)('create', lockPath, error);
            throw new errors/* CheckoutError */.vd('index-locked', `the index is locked: '${lockPath}' exists. Another git process may be running; if none is, one ended early: remove the file`, { path: lockPath, errno: 'EEXIST' }, error);
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
            for (let at = 0; at < content.length;)
                at += (0,external_node_fs_.writeSync)(descriptor, content, at, content.length - at);
            this.descriptor = null;
            (0,external_node_fs_.closeSync)(descriptor);
            this.rename();
        }
        catch (error) {
            this.release();
            throw (0,errors/* ioError */.bD)('write the index', this.indexPath, error);
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
                const busy = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes((0,errors/* errnoOf */.UQ)(error) ?? '');
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
            if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes((0,errors/* errnoOf */.UQ)(error) ?? ''))
                return current;
            throw (0,errors/* ioError */.bD)('read the link', current, error);
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

;// CONCATENATED MODULE: ./build/js/engine/plan/object-budget.js

/**
 * Unless a limit was asked for, so much for each worker. On the Linux 6.12 tree two workers with 20 MiB each took the same time as
 * with all the memory that there was, and 12 MB less at their peak; an object larger than the budget is dealt with alone.
 */
const OBJECT_MEMORY_PER_WORKER_BYTES = 20 * 2 ** 20;
/**
 * The budget for large objects, in bytes; may be 0, and then they are dealt with one at a time. Pure.
 * @param setting the memory limit that was asked for
 */
function objectBudget(plan, setting) {
    const rest = Math.max(0, plan.memoryLimitBytes - plan.workers * WORKER_MEMORY_BYTES);
    return setting === 'auto' ? Math.min(rest, Math.max(1, plan.workers) * OBJECT_MEMORY_PER_WORKER_BYTES) : rest;
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
        throw new errors/* CheckoutError */.vd('unsupported', `our own engine cannot check this out: ${needsGit.join('; ')}`, {
            option: 'engine',
        });
    }
    return {
        engine: 'git',
        reasons: needsGit.map((text, at) => ({ about: 'engine', text: `git: ${text}`, decided: at === 0 })),
    };
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
        const guess = error instanceof errors/* CheckoutError */.vd && error.code === 'unknown-revision' ? guessBranch(facts, text) : null;
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
    // A full id is itself even where a ref has this name.
    if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text))
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
        throw new errors/* CheckoutError */.vd('usage', `'${displayName(text)}' is an option, not a revision`, {
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
        return objectId(text, bases[0]);
    }
    // After ':/' everything is the text to search for.
    const expression = text.startsWith(':/') ? text : `${fullForm(text)}^{commit}`;
    const answer = await revision_run(facts, ['rev-parse', '--verify', '--quiet', expression]);
    if (answer === null)
        throw unknownRevision(text);
    return objectId(text, answer);
}
function objectId(text, answer) {
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(answer))
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
            throw new errors/* CheckoutError */.vd('git-failed', `git could not set '${key}.${name}': ${result.stderr.trim().split('\n')[0]}`);
        }
    }
}

// EXTERNAL MODULE: ./build/js/engine/report/report.js
var report = __nccwpck_require__(864);
;// CONCATENATED MODULE: external "node:child_process"
const external_node_child_process_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:child_process");
;// CONCATENATED MODULE: external "node:string_decoder"
const external_node_string_decoder_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:string_decoder");
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
    const errno = (0,errors/* errnoOf */.UQ)(error);
    if (cwd !== undefined && (0,external_node_fs_.statSync)(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
        return new errors/* CheckoutError */.vd('io', `cannot run git in '${cwd}': no such directory`, { path: cwd, errno: 'ENOENT' });
    }
    if (errno === 'ENOENT') {
        return new errors/* CheckoutError */.vd('git-missing', 'git is not installed or not in PATH', { errno }, error);
    }
    return new errors/* CheckoutError */.vd('git-missing', `cannot start git: ${errno ?? String(error)}`, errno === undefined ? {} : { errno }, error);
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
        const interrupted = () => new errors/* CheckoutError */.vd('interrupted', `${what} was interrupted`);
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
                stop(new errors/* CheckoutError */.vd('git-failed', `${what} printed more than ${MAX_STDOUT_BYTES} bytes`));
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
        throw new errors/* CheckoutError */.vd('usage', `${option}: at least 16MB are needed, not '${shown(text)}'`, { option });
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
        throw new errors/* CheckoutError */.vd('usage', `${option}: expected ${alternative}a size such as 512MB, 2GiB or a number of bytes, not '${shown(text)}'`, { option });
    }
    const bytes = Math.floor(Number(match[1]) * unit);
    if (!Number.isSafeInteger(bytes)) {
        throw new errors/* CheckoutError */.vd('usage', `${option}: '${shown(text)}' is too large`, { option });
    }
    return bytes;
}
/** A whole number in decimal digits within [least, most]. Throws `usage` naming `option`. */
function parseWholeNumber(text, option, least, most, alternative = '') {
    const value = text.trim();
    const number = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
    if (!(number >= least && number <= most)) {
        throw new errors/* CheckoutError */.vd('usage', `${option}: expected ${alternative}a whole number from ${least} to ${most}, not '${shown(text)}'`, { option });
    }
    return number;
}
function parseChoice(text, option, choices) {
    const value = text.trim();
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) {
        const list = choices.map((candidate) => `'${candidate}'`).join(', ');
        throw new errors/* CheckoutError */.vd('usage', `${option}: expected one of ${list}, not '${shown(text)}'`, { option });
    }
    return choice;
}
function shown(text) {
    const characters = Array.from(text.slice(0, 2 * SHOWN_CHARACTERS));
    const cut = characters.length > SHOWN_CHARACTERS || text.length > 2 * SHOWN_CHARACTERS;
    return displayBytes(Buffer.from(characters.slice(0, SHOWN_CHARACTERS).join(''))) + (cut ? '…' : '');
}

;// CONCATENATED MODULE: ./build/js/engine/engine.js
/**
 * The engine's front door and the order of its stages: settings, plan, fetch, checkout, report. Nothing else is decided here.
 */































const NO_PLAN = { workers: 0, lanes: 1, memoryLimitBytes: 0, reasons: [] };
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
        return engine_report(beginRun(fetched), { files: 0, kept: 0, removed: 0, bytesWritten: 0 }, [], []);
    }
    if (request.sparse.length > 0) {
        const result = await ports.git({
            // These are patterns; without this git (from 2.37) takes them for directories.
            args: ['sparse-checkout', 'set', '--no-cone', '--end-of-options', ...request.sparse],
            cwd: cloned.directory,
            ...(request.signal === undefined ? {} : { signal: request.signal }),
        });
        if (result.exitCode !== 0)
            throw gitFailure('sparse-checkout', result.stderr);
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
            : countFiles(opened.repository, processEnvironment(), (line) => ports.observer.warning(line));
        files = counted ?? DEFAULT_PLANNED_FILES;
        if (counted === null) {
            const why = opened === null ? 'git finds no repository here' : 'the files of this repository were not counted';
            reasons.push({ about: 'workers', text: `${why}: ${files} files are assumed`, decided: false });
        }
    }
    if (request.bytes !== undefined) {
        const text = `${request.bytes} bytes: no bound, as a checkout does not know sizes before it reads the files`;
        reasons.push({ about: 'workers', text, decided: false });
    }
    if (opened !== null || request.engine !== 'auto') {
        reasons.push(...routeEngine(request.engine, opened === null ? [] : whatNeedsGit(opened)).reasons);
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
    throw new errors/* CheckoutError */.vd('unsupported', "transport 'stream' is not built yet; use 'auto' or 'git'", {
        option: 'transport',
    });
}
/** Files that a plan assumes where none are known: enough that the number is no bound. */
const DEFAULT_PLANNED_FILES = 100_000;
function beginRun(fetched) {
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
async function runCheckout(request, ports, fetched, reflogMessage) {
    const run = beginRun(fetched);
    if (fetched === undefined)
        run.phases.push({ name: 'start', ms: run.startedMs });
    try {
        const opened = await repository_openRepositoryAndConfig({
            directory: request.directory,
            gitDir: request.gitDir,
            workTree: request.workTree,
            config: request.config,
        }, ports.git, request.signal);
        const host = request.hostFacts ?? probe_host_probeHost({ workTree: opened.repository.workTree });
        const session = { request, ports, run, host, reflogMessage, ...opened };
        return await route(session);
    }
    catch (error) {
        if (!(error instanceof errors/* CheckoutError */.vd))
            throw error;
        return engine_report(run, { files: 0, kept: 0, removed: 0, bytesWritten: 0 }, [], [], error);
    }
}
/** Takes our own engine, and git where something needs it; all such things are found before anything is touched. */
async function route(session) {
    const early = route_routeEngine(session.request.engine, whatNeedsGit(session));
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
function whatNeedsGit({ repository, config }) {
    const reasons = repositoryNeedsGit(repository, config, environment_processEnvironment());
    const state = stateThatNeedsGit(repository.gitDir);
    return state === null ? reasons : [...reasons, state];
}
/** What our engine found that only git can do; all other errors go on. Nothing has been touched then. */
function reasonsForGit(error) {
    if (error instanceof NeedsGit)
        return error.reasons;
    if (error instanceof errors/* CheckoutError */.vd && error.code === 'unsupported')
        return [error.message];
    throw error;
}
function planFor({ request, host, config }, files, routeReasons) {
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
async function resolveTarget(session) {
    const { request, repository, config, ports } = session;
    const facts = {
        dirs: repository,
        config,
        git: ports.git,
        gitOptions: repository.gitOptions,
        cwd: repository.workTree,
        signal: request.signal,
    };
    const { target } = request;
    const branchFrom = (branch, start, startPoint) => ({
        oid: start.oid,
        change: (commit) => ({ kind: 'reset-branch', refName: `refs/heads/${branch}`, oid: commit, startPoint }),
        upstream: start.refName === null ? null : planUpstream(config, branch, start.refName),
    });
    switch (target.kind) {
        case 'branch':
            return branchFrom(target.branch, await resolveRevision(facts, target.startPoint), target.startPoint);
        case 'detach': {
            const { oid } = await resolveRevision(facts, target.revision);
            return { oid, change: (commit) => ({ kind: 'detach', oid: commit, to: target.revision }), upstream: null };
        }
        case 'head':
        case 'revision': {
            const text = target.kind === 'head' ? 'HEAD' : target.revision;
            const found = await resolveCheckoutRevision(facts, text);
            if (found.kind === 'head')
                return { oid: found.oid, change: null, upstream: null };
            if (found.kind === 'detached') {
                // '@{-1}' stands for what was checked out before, and it is that which the reflog names.
                const to = /^(-|@\{-[0-9]+\})$/.test(text) ? found.oid : text;
                return { oid: found.oid, change: (commit) => ({ kind: 'detach', oid: commit, to }), upstream: null };
            }
            if (found.trackingRef !== undefined) {
                const branch = found.refName.slice('refs/heads/'.length);
                return branchFrom(branch, { oid: found.oid, refName: found.trackingRef }, found.trackingRef);
            }
            return { oid: found.oid, change: () => ({ kind: 'switch', refName: found.refName }), upstream: null };
        }
    }
}
async function checkoutNatively(session, routeReasons) {
    const { request, repository, config, ports, run } = session;
    const environment = environment_processEnvironment();
    const target = await resolveTarget(session);
    const lock = IndexLock.acquire(repository.indexPath);
    let odb = null;
    const prepared = { head: null };
    try {
        const warn = (line) => ports.observer.warning(line);
        odb = object_database_ObjectDatabase.open(alternates_objectDirectories(repository.objectsDir, environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '', warn), warn);
        const { commit, tree } = peel_peelToTree(odb, target.oid);
        const index = parse_index_readIndex(repository.indexPath);
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
            lock,
            rules: {
                ntfs: config.getBool('core.protectNTFS') ?? true,
                hfs: config.getBool('core.protectHFS') ?? process.platform === 'darwin',
                windows: process.platform === 'win32',
            },
            statComparison: {
                trustCtime: config.getBool('core.trustCtime') ?? true,
                checkStatMinimal: config.get('core.checkStat')?.toLowerCase() === 'minimal',
                fileMode: config.getBool('core.fileMode') ?? true,
                symlinks: true,
                platform: process.platform,
            },
            ignoreCase,
            conversions,
            conversionList: () => conversions.conversions,
            plan: (files) => planFor(session, files, routeReasons),
            objectBudget: (plan) => objectBudget(plan, request.memoryLimitBytes),
            ...(request.signal === undefined ? {} : { signal: request.signal }),
            onProgress: (progress) => ports.observer.progress(progress),
            warn,
            keep: process.cwd(),
            beforeTouching: () => {
                if (target.change === null)
                    return;
                prepared.head = prepareHeadUpdate({ dirs: repository, config, environment, reflogMessage: session.reflogMessage }, target.change(commit));
            },
        });
        prepared.head?.commit();
        removeBranchState(repository.gitDir);
        if (target.upstream !== null) {
            await writeUpstream({ dirs: repository, config, git: ports.git, gitOptions: repository.gitOptions, cwd: repository.workTree }, target.upstream);
        }
        return nativeReport(run, outcome, commit, ports);
    }
    finally {
        prepared.head?.abort();
        lock.release();
        odb?.close();
    }
}
function nativeReport(run, outcome, commit, ports) {
    run.plan = outcome.plan;
    run.phases.push(...outcome.phases);
    run.commit = commit;
    for (const death of outcome.deaths)
        ports.observer.warning(death);
    const skipped = outcome.failures.map((error) => ({ path: error.subject.path ?? '', reason: error.message }));
    const [first] = outcome.failures;
    const more = outcome.failures.length - 1;
    const error = first === undefined
        ? undefined
        : new errors/* CheckoutError */.vd('write-failed', more === 0 ? first.message : `${first.message} (and ${more} more)`, first.subject, first);
    return engine_report(run, outcome, outcome.workers, skipped, error);
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
/** Hands the checkout to `git checkout`, with the workers that our plan would use. */
async function checkoutByGit(session, routeReasons) {
    const { request, repository, ports, run } = session;
    run.engine = 'git';
    run.plan = planFor(session, DEFAULT_PLANNED_FILES, routeReasons);
    for (const { text } of routeReasons) {
        const reason = text.replace(/^git(: |, )/, '');
        ports.observer.info(`checkout by git: ${reason}`);
        run.fallbacks.push({ stage: 'checkout', reason });
    }
    if (request.engine === 'git')
        run.fallbacks = [];
    const fresh = !(0,external_node_fs_.existsSync)(repository.indexPath);
    const before = indexOrNothing(repository.indexPath);
    const started = performance.now();
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
        throw new errors/* CheckoutError */.vd('interrupted', 'interrupted while git checked out');
    if (result.exitCode !== 0)
        throw gitFailure('checkout', result.stderr);
    run.commit = read_refs_resolveRef(repository, 'HEAD')?.oid ?? null;
    const after = indexOrNothing(repository.indexPath);
    if (after !== null && (fresh || before !== null))
        return engine_report(run, compareIndexes(before, after), [], []);
    // An index that we cannot read: of a fresh tree all is written, of another one nothing is known.
    const totals = fresh ? await countTracked(session) : { files: 0, kept: 0, removed: 0, bytesWritten: 0 };
    return engine_report(run, totals, [], []);
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
function gitFailure(command, stderr) {
    const lines = stderr.split('\n').map((line) => line.trim());
    const line = lines.find((each) => /^(fatal|error): /.test(each)) ?? lines.find((each) => each !== '') ?? 'no message';
    return new errors/* CheckoutError */.vd('git-failed', `git ${command} failed: ${line.replace(/^(fatal|error): /, '')}`);
}
/** The index for counting only: one that we cannot read, or that is not whole, counts as none. */
function indexOrNothing(path) {
    try {
        const index = parse_index_readIndex(path);
        const whole = index?.extensions.every(({ signature }) => signature !== 'link' && signature !== 'sdir');
        return whole === true ? index : null;
    }
    catch (error) {
        if (error instanceof errors/* CheckoutError */.vd)
            return null;
        throw error;
    }
}
/** Counts what git wrote into an empty working tree, where the index is of a kind that we cannot read. */
async function countTracked({ repository, ports }) {
    const result = await ports.git({ args: [...repository.gitOptions, 'ls-files', '-z'], cwd: repository.workTree });
    const files = result.stdout.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
    return { files, kept: 0, removed: 0, bytesWritten: 0 };
}
/** Counts what git wrote: entries whose file is another one than before (inode, time or size). */
function compareIndexes(before, after) {
    let files = 0;
    let bytesWritten = 0;
    let kept = 0;
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
        if (same)
            kept++;
        else if (after.stats[10 * entry + 2] !== 0) {
            files++;
            bytesWritten += after.stats[10 * entry + 9] ?? 0;
        }
    }
    return { files, kept, removed: oldCount - matched, bytesWritten };
}
function engine_report(run, totals, workers, skipped, error) {
    const cpu = process.cpuUsage(run.cpuStart);
    const json = error?.toJSON();
    return {
        schemaVersion: report/* REPORT_SCHEMA_VERSION */.W,
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
            removed: totals.removed,
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
/** Wraps a system error on `path` into one line; passes a CheckoutError through unchanged. */
function ioError(action, path, error) {
    if (error instanceof CheckoutError)
        return error;
    const errno = errnoOf(error);
    const detail = errno ?? (error instanceof Error ? error.message : String(error));
    return new CheckoutError('io', `cannot ${action} '${path}': ${detail}`, errno === undefined ? { path } : { path, errno }, error);
}
/** A broken invariant of this program, never the user's fault. */
function bug(what) {
    return new Error(`BUG in parallel-checkout: ${what}`);
}


/***/ }),

/***/ 93:
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

/***/ 574:
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

/***/ 864:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   W: () => (/* binding */ REPORT_SCHEMA_VERSION)
/* harmony export */ });
/** Raised when a key changes its meaning or goes away; new keys do not raise it. */
const REPORT_SCHEMA_VERSION = 1;


/***/ }),

/***/ 849:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __nccwpck_require__) => {

/* harmony export */ __nccwpck_require__.d(__webpack_exports__, {
/* harmony export */   Lp: () => (/* binding */ costSentence),
/* harmony export */   X8: () => (/* binding */ groupWorkers),
/* harmony export */   ZW: () => (/* binding */ groupCost),
/* harmony export */   hv: () => (/* binding */ groupName),
/* harmony export */   wE: () => (/* binding */ workerSentence)
/* harmony export */ });
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_0__ = __nccwpck_require__(93);

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

/***/ 488:
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
var external_fs_ = __nccwpck_require__(896);
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
/******/ /* webpack/runtime/hasOwnProperty shorthand */
/******/ (() => {
/******/ 	__nccwpck_require__.o = (obj, prop) => (Object.prototype.hasOwnProperty.call(obj, prop))
/******/ })();
/******/ 
/************************************************************************/
/******/ 
/******/ // startup
/******/ // Load entry module and return exports
/******/ // This entry module used 'module' so it can't be inlined
/******/ var __webpack_exports__ = __nccwpck_require__(764);
/******/ __webpack_exports__ = await __webpack_exports__;
/******/ 
