import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";
var __webpack_exports__ = {};

;// CONCATENATED MODULE: external "node:path"
const external_node_path_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:path");
;// CONCATENATED MODULE: external "os"
const external_os_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("os");
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
function utils_toCommandProperties(annotationProperties) {
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
    process.stdout.write(cmd.toString() + external_os_namespaceObject.EOL);
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
    issueCommand('add-mask', {}, secret);
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
        return issueFileCommand('OUTPUT', prepareKeyValueMessage(name, value));
    }
    process.stdout.write(os.EOL);
    issueCommand('set-output', { name }, toCommandValue(value));
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
    issueCommand('debug', {}, message);
}
/**
 * Adds an error issue
 * @param message error issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function error(message, properties = {}) {
    issueCommand('error', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a warning issue
 * @param message warning issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function core_warning(message, properties = {}) {
    command_issueCommand('warning', utils_toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Adds a notice issue
 * @param message notice issue message. Errors will be converted to string via toString()
 * @param properties optional properties to add to the annotation.
 */
function notice(message, properties = {}) {
    issueCommand('notice', toCommandProperties(properties), message instanceof Error ? message.toString() : message);
}
/**
 * Writes info to log with console.log.
 * @param message info message
 */
function core_info(message) {
    process.stdout.write(message + external_os_namespaceObject.EOL);
}
/**
 * Begin an output group.
 *
 * Output until the next `groupEnd` will be foldable in this group
 *
 * @param name The name of the output group
 */
function core_startGroup(name) {
    issue('group', name);
}
/**
 * End an output group.
 */
function core_endGroup() {
    issue('endgroup');
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
        core_startGroup(name);
        let result;
        try {
            result = yield fn();
        }
        finally {
            core_endGroup();
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
function core_saveState(name, value) {
    const filePath = process.env['GITHUB_STATE'] || '';
    if (filePath) {
        return issueFileCommand('STATE', prepareKeyValueMessage(name, value));
    }
    issueCommand('save-state', { name }, toCommandValue(value));
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
;// CONCATENATED MODULE: external "node:fs"
const external_node_fs_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:fs");
;// CONCATENATED MODULE: external "node:crypto"
const external_node_crypto_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:crypto");
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
function bug(what) {
    return new Error(`BUG in parallel-checkout: ${what}`);
}

;// CONCATENATED MODULE: ./build/js/action/config-file.js
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
        return new errors_CheckoutError('config-invalid', `git configuration cannot be read: bad line ${line}`);
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
function config_file_formatSection(section) {
    const { subsection } = section;
    if (subsection !== null && /[\n\0]/.test(subsection)) {
        throw new CheckoutError('config-invalid', 'a name with a line break cannot be written to a git configuration');
    }
    const name = subsection === null ? '' : ` "${toLatin1(subsection).replace(/["\\]/g, '\\$&')}"`;
    const lines = section.variables.map(([key, value]) => `\t${key} = ${quote(value)}\n`);
    return `[${section.section}${name}]\n${lines.join('')}`;
}
/** The text with sections added at its end. */
function config_file_appendSections(text, sections) {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    return text + gap + sections.map(config_file_formatSection).join('');
}
/** The file's text, or null where there is no such file. */
function config_file_readConfigFile(path) {
    try {
        return (0,external_node_fs_namespaceObject.readFileSync)(path, 'latin1');
    }
    catch (error) {
        const errno = errors_errnoOf(error);
        if (errno === 'ENOENT' || errno === 'ENOTDIR')
            return null;
        throw errors_ioError('read', path, error);
    }
}
/**
 * Replaces the file's text as git does: through `<file>.lock`, so that a git process at work on it is not overrun. Does
 * nothing if the file is missing or `edit` changes nothing. Throws `config-invalid` (with the path) and `io`.
 */
function config_file_editConfigFile(path, edit) {
    const before = config_file_readConfigFile(path);
    if (before === null)
        return;
    let after;
    try {
        after = edit(before);
    }
    catch (error) {
        if (!(error instanceof errors_CheckoutError))
            throw error;
        throw new errors_CheckoutError(error.code, `${error.message} in '${path}'`, { path }, error);
    }
    if (after === before)
        return;
    let lock = `${path}.lock`;
    try {
        const target = (0,external_node_fs_namespaceObject.realpathSync)(path);
        lock = `${target}.lock`;
        const mode = (0,external_node_fs_namespaceObject.statSync)(target).mode & 0o777;
        const descriptor = (0,external_node_fs_namespaceObject.openSync)(lock, 'wx', mode);
        try {
            const bytes = Buffer.from(after, 'latin1');
            for (let written = 0; written < bytes.length;)
                written += (0,external_node_fs_namespaceObject.writeSync)(descriptor, bytes, written);
        }
        catch (error) {
            (0,external_node_fs_namespaceObject.rmSync)(lock, { force: true });
            throw error;
        }
        finally {
            (0,external_node_fs_namespaceObject.closeSync)(descriptor);
        }
        (0,external_node_fs_namespaceObject.chmodSync)(lock, mode); // openSync applied the umask
        (0,external_node_fs_namespaceObject.renameSync)(lock, target);
    }
    catch (error) {
        throw errors_ioError('write', errors_errnoOf(error) === 'EEXIST' ? lock : path, error);
    }
}

;// CONCATENATED MODULE: external "node:child_process"
const external_node_child_process_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:child_process");
;// CONCATENATED MODULE: external "node:util"
const external_node_util_namespaceObject = __WEBPACK_EXTERNAL_createRequire(import.meta.url)("node:util");
;// CONCATENATED MODULE: ./build/js/action/ssh.js
/**
 * The `ssh-key` input: the key and the hosts that it may be shown to, as files that ssh reads while the step works, and
 * longer if they persist; and the command that makes git use them. ssh takes a key from a file or an agent only, so it is on the
 * disk for as long as it is used. docs/decisions/ssh.md.
 */






/**
 * The host keys of github.com that GitHub publishes ("GitHub's SSH key fingerprints" in its documentation, and ssh_keys of
 * https://api.github.com/meta). A test holds them against the fingerprints from there.
 */
const GITHUB_HOST_KEYS = (/* unused pure expression or super */ null && ([
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCj7ndNxQowgcQnjshcLrqPEiiphnt+VTTvDP6mHBL9j1aNUkY4Ue1gvwnGLVlOhGeYrnZaMgRK6+PKCUXaDbC7qtbW8gIkhL7aGCsOr/C56SJMy/BCZfxd1nWzAOxSDPgVsmerOBYfNqltV9/hWCqBywINIR+5dIg6JTJ72pcEpEjcYgXkE2YEFXV1JHnsKgbLWNlhScqb2UmyRkQyytRLtL+38TGxkxCflmO+5Z8CSSNY7GidjMIZ7Q4zMjA2n1nGrlTDkzwDCsw+wqFPGQA179cnfGWOWRVruj16z6XyvxvjJwbz0wQZ75XK5tKSb7FNyeIEs4TT4jk+S4dhPeAUC5y+bDYirYgM4GC7uEnztnZyaVWQ7B381AK4Qdrwt51ZqExKbQpTUNn+EjqoTwvqNj4kqx5QUCI0ThS/YkOxJCXmPUWZbhjpCg56i+2aB6CmK2JGhn57K5mj0MNdBXA4/WnwH6XoPWJzK5Nyu2zB3nAZp+S5hpQs+p1vN1/wsjk=',
]));
/** ssh waits for a connection for as long as the system does, two minutes and more, and for a dead server for ever. */
const CONNECT_TIMEOUT_SECONDS = 30;
/** Three unanswered questions end the connection (ServerAliveCountMax). */
const ALIVE_INTERVAL_SECONDS = 15;
/** `ssh -G` reads two files; one that runs programs (`Match exec`) and hangs must not hang us. */
const CONFIGURATION_TIMEOUT_MS = 10_000;
/** A key as its file must be: ssh insists on the line feed at the end and does not take CRLF. */
function normalizedKey(text) {
    return `${text.replace(/\r\n?/g, '\n').trim()}\n`;
}
/**
 * Why ssh cannot use this private key, to be put behind "input 'ssh-key' ", or null. Only what is certain is found here;
 * ssh itself says only that permission was denied. Never holds a part of the key.
 */
function keyFault(key) {
    if (/^(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ AAAA/.test(key))
        return 'is a public key; the private key is needed';
    if (key.startsWith('PuTTY-User-Key-File'))
        return "is in PuTTY's format; puttygen can export it in OpenSSH's";
    const found = /-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----([^]*)/.exec(key);
    if (found === null)
        return "is not a private key: it has no line '-----BEGIN … PRIVATE KEY-----'";
    const [, label = '', rest = ''] = found;
    if (!rest.startsWith('\n'))
        return "is not a private key: the line break after '-----BEGIN … PRIVATE KEY-----' is lost";
    const end = rest.indexOf(`\n-----END ${label}PRIVATE KEY-----`);
    if (end < 0)
        return "is cut off: it has no line '-----END … PRIVATE KEY-----'";
    const body = rest.slice(0, end);
    const locked = 'is protected by a passphrase, which nobody can type in a job; give a key without one';
    if (label === 'ENCRYPTED ' || /^Proc-Type: 4,ENCRYPTED$/m.test(body))
        return locked;
    if (label !== 'OPENSSH ')
        return null;
    // "openssh-key-v1", NUL, then the name of the cipher with its length before it (OpenSSH, PROTOCOL.key).
    const bytes = Buffer.from(body, 'base64');
    const magic = Buffer.from('openssh-key-v1\0', 'latin1');
    const name = magic.length + 4;
    if (bytes.length < name || !bytes.subarray(0, magic.length).equals(magic))
        return 'is damaged';
    const cipher = bytes.subarray(name, name + Math.min(bytes.readUInt32BE(magic.length), 64)).toString('latin1');
    return cipher === 'none' ? null : locked;
}
/** The lines of a key that are secret, for the runner to mask: it masks by lines. */
function secretLines(key) {
    return key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
}
/** `user@host:owner/name.git`. The address of the server may have a port, which is not that of its SSH server. */
function sshUrl(user, serverOrigin, path) {
    return `${user}@${new URL(serverOrigin).hostname}:${path}.git`;
}
/** New paths for the files of a step. */
function newSshFiles(runnerTemp) {
    const id = randomUUID();
    return { keyPath: join(runnerTemp, id), knownHostsPath: join(runnerTemp, `${id}_known_hosts`) };
}
/** The full path of ssh; null where PATH has none. Entries that depend on the current directory are passed over. */
function findSsh(environment, platform) {
    const path = platform === 'win32' ? win32 : posix;
    const name = Object.keys(environment).find((key) => (platform === 'win32' ? key.toUpperCase() : key) === 'PATH');
    for (const folder of ((name === undefined ? undefined : environment[name]) ?? '').split(path.delimiter)) {
        if (!path.isAbsolute(folder))
            continue;
        const program = path.join(folder, platform === 'win32' ? 'ssh.exe' : 'ssh');
        try {
            if (statSync(program, { throwIfNoEntry: false })?.isFile() === true)
                return program;
        }
        catch {
            // A folder of PATH that may not be read has none.
        }
    }
    return null;
}
/** Inside of double quotes of a shell, as it stands. */
function shellQuoted(text) {
    return text.replace(/[\\"$`]/g, '\\$&');
}
/**
 * The command that git runs in place of `ssh`. `$RUNNER_TEMP` is left to the shell: in a container action it is another
 * directory, with the same files in it. Pure.
 *
 * @param timeouts options that end a connection to a dead server
 */
function sshCommand(program, files, strict, timeouts) {
    const option = (name, value) => `-o ${name}=${value}`;
    return [
        `"${shellQuoted(program)}"`,
        `-i "$RUNNER_TEMP/${basename(files.keyPath)}"`,
        option('BatchMode', 'yes'), // nobody is there to answer
        ...(strict ? [option('StrictHostKeyChecking', 'yes'), option('CheckHostIP', 'no')] : []),
        // ssh takes several files here, parted by blanks, so that a path with a blank needs quotes of its own.
        `-o "UserKnownHostsFile=\\"$RUNNER_TEMP/${basename(files.knownHostsPath)}\\""`,
        ...timeouts.map(([name, value]) => option(name, value)),
    ].join(' ');
}
/** The options against dead servers that ssh's configuration for this host leaves open; `listing` is of `ssh -G`. Pure. */
function missingTimeouts(listing) {
    const set = (name) => new RegExp(`^${name} [1-9]`, 'm').test(listing);
    const missing = [];
    if (!set('connecttimeout'))
        missing.push(['ConnectTimeout', CONNECT_TIMEOUT_SECONDS]);
    if (!set('serveraliveinterval'))
        missing.push(['ServerAliveInterval', ALIVE_INTERVAL_SECONDS]);
    return missing;
}
/** The arguments of icacls that leave a file to one user; the mode of a file means nothing on Windows. */
function icaclsArguments(path, environment) {
    return [path, '/inheritance:r', '/grant:r', `${environment['USERDOMAIN'] ?? ''}\\${environment['USERNAME'] ?? ''}:F`];
}
/** What the file of known hosts holds: those of the user, those of the input, and github.com. */
function knownHostsText(ofUser, ofInput) {
    const lines = [ofUser, ofInput, ...GITHUB_HOST_KEYS.map((key) => `github.com ${key}`)];
    return lines
        .filter((text) => text.trim() !== '')
        .map((text) => `${text.replace(/\r\n?/g, '\n').trimEnd()}\n`)
        .join('');
}
function readKnownHosts(path) {
    try {
        return readFileSync(path, 'latin1');
    }
    catch (error) {
        if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR')
            return '';
        throw ioError('read', path, error);
    }
}
/** Writes both files, new ones that only the owner can read. Throws `io`. */
async function writeSshFiles(files, settings, userHome, environment) {
    const { keyPath, knownHostsPath } = files;
    const ofUser = readKnownHosts(join(userHome, '.ssh', 'known_hosts'));
    try {
        writeFileSync(keyPath, '', { mode: 0o600, flag: 'wx' });
        // Before the key is in it.
        if (process.platform === 'win32') {
            await promisify(execFile)('icacls.exe', icaclsArguments(keyPath, environment), { windowsHide: true });
        }
        writeFileSync(keyPath, settings.key, { flag: 'r+' });
    }
    catch (error) {
        throw ioError('write', keyPath, error);
    }
    try {
        const ofInput = Buffer.from(settings.knownHosts, 'utf8').toString('latin1');
        writeFileSync(knownHostsPath, knownHostsText(ofUser, ofInput), { mode: 0o600, flag: 'wx', encoding: 'latin1' });
    }
    catch (error) {
        throw ioError('write', knownHostsPath, error);
    }
}
/**
 * Finds ssh, asks it how it is configured, and makes the command. Writes nothing yet.
 *
 * @throws CheckoutError usage where there is no ssh
 */
async function planSsh(settings, files, userHome, environment, signal) {
    const { ssh, url } = settings;
    if (ssh === null)
        return null;
    const program = findSsh(environment, process.platform);
    if (program === null) {
        throw new CheckoutError('usage', `input 'ssh-key' needs ssh, which is not installed or not in PATH`, {
            option: 'ssh-key',
        });
    }
    let listing = '';
    try {
        const options = { timeout: CONFIGURATION_TIMEOUT_MS, killSignal: 'SIGKILL', signal, windowsHide: true };
        const host = url.slice(0, url.lastIndexOf(':')).replace(/[[\]]/g, '');
        ({ stdout: listing } = await promisify(execFile)(program, ['-G', '--', host], options));
    }
    catch {
        // An ssh that cannot tell (before OpenSSH 6.8) or whose configuration is broken; the fetch will say so.
    }
    return {
        command: sshCommand(program, files, ssh.strict, missingTimeouts(listing)),
        writeFiles: () => writeSshFiles(files, ssh, userHome, environment),
    };
}
/** Removes one of them, if it is there. Throws `io`. */
function removeSshFile(path) {
    try {
        (0,external_node_fs_namespaceObject.rmSync)(path, { force: true });
    }
    catch (error) {
        throw errors_ioError('remove', path, error);
    }
}
/**
 * The names in RUNNER_TEMP of the key and the known hosts that a `core.sshCommand` of a checkout step, ours or that of
 * actions/checkout, has in it; none for another command.
 */
function filesOfCommand(command) {
    const key = / -i "\$RUNNER_TEMP\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/i.exec(command)?.[1];
    return key === undefined ? [] : [key, `${key}_known_hosts`];
}
/** What to do about it, added to ssh's refusal; any other error as it is. */
function sshHint(error) {
    if (!(error instanceof CheckoutError) || error.code !== 'authentication-failed')
        return error;
    let hint = null;
    if (/Host key verification failed|host key is known for|Host key for .* has changed/i.test(error.message)) {
        hint = "the host's key must be among 'ssh-known-hosts' (see ssh-keyscan)";
    }
    else if (/Load key /.test(error.message)) {
        hint = "the private key in 'ssh-key' cannot be read";
    }
    else if (/Permission denied/.test(error.message)) {
        hint = "the server does not accept the key in 'ssh-key'";
    }
    return hint === null ? error : new CheckoutError(error.code, `${error.message}; ${hint}`, error.subject, error);
}

;// CONCATENATED MODULE: ./build/js/action/credentials.js
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
/** The setting that has git send the token to `origin`, and nowhere else. */
function tokenSetting(origin, token) {
    return [`http.${origin}/.extraheader`, authorization(token)];
}
/**
 * The environment that makes one git process send the token to `origin` alone. Settings of that kind that the environment has
 * already are kept.
 */
function credentialEnvironment(origin, token, environment, readsCount) {
    return configEnvironment([tokenSetting(origin, token)], environment, readsCount);
}
/**
 * The environment that gives one git process settings beside those of its files; those that the environment has already are kept.
 *
 * @param readsCount whether git reads GIT_CONFIG_COUNT (git-config(1)). An older one is given GIT_CONFIG_PARAMETERS, which is how
 *   `git -c` hands its settings on to the processes that it starts, in the form that it had until then.
 */
function configEnvironment(settings, environment, readsCount) {
    if (!readsCount) {
        const before = environment['GIT_CONFIG_PARAMETERS'] ?? '';
        const all = settings.map(([key, value]) => `'${key}=${value}'`);
        return { GIT_CONFIG_PARAMETERS: [...(before === '' ? [] : [before]), ...all].join(' ') };
    }
    const count = Number.parseInt(environment['GIT_CONFIG_COUNT'] ?? '', 10);
    const at = count > 0 ? count : 0;
    const result = { GIT_CONFIG_COUNT: String(at + settings.length) };
    settings.forEach(([key, value], i) => {
        result[`GIT_CONFIG_KEY_${at + i}`] = key;
        result[`GIT_CONFIG_VALUE_${at + i}`] = value;
    });
    return result;
}
/** A new path for a token file. */
function newCredentialsPath(runnerTemp) {
    return join(runnerTemp, `git-credentials-${randomUUID()}.config`);
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
        writeFileSync(path, formatSection(section), { mode: 0o600, flag: 'wx' });
    }
    catch (error) {
        throw ioError('write', path, error);
    }
}
/** A path as a `gitdir:` condition: forward slashes, and no character that its pattern would take for a wildcard. */
function gitdirPattern(path) {
    return path
        .split(sep)
        .join('/')
        .replace(/[*?[\\]/g, '\\$&');
}
/** The four conditional includes (six where the path has a link in it, since git compares real paths first). */
function includeSections(workspace, repositoryPath, credentialsPath) {
    const inside = relative(workspace, repositoryPath).split(sep).join('/');
    const inContainer = posix.join('/github/workspace', inside, '.git');
    return includeSectionsOf(join(repositoryPath, '.git'), inContainer, credentialsPath);
}
/**
 * The same of any git directory.
 * @param inContainer its path to a container action
 */
function includeSectionsOf(gitDir, inContainer, credentialsPath) {
    const both = (condition, path) => [condition, `${condition}/worktrees/*`].map((each) => ({
        section: 'includeIf',
        subsection: `gitdir:${each}`,
        variables: [['path', path]],
    }));
    const here = gitdirPattern(gitDir);
    const sections = both(here, credentialsPath);
    const real = gitdirPattern(join(realPathOf(dirname(gitDir)), basename(gitDir)));
    if (real !== here)
        sections.push(...both(real, credentialsPath));
    sections.push(...both(gitdirPattern(inContainer), posix.join('/github/runner_temp', basename(credentialsPath))));
    return sections;
}
function realPathOf(path) {
    try {
        return realpathSync(path);
    }
    catch {
        return path;
    }
}
/** SSH addresses that submodules are fetched from over HTTP instead: of the server, and of an organisation on GitHub. */
const REPLACED_ADDRESS = /^(?:git@[^/:@]+|org-[0-9]+@github\.com):$/;
/** Whether this variable is one that a checkout step, ours or actions/checkout 2 to 7, left to authenticate with. */
function isCredential(variable, origins, ofSubmodule) {
    const { section, subsection, name, value } = variable;
    // No step sets it in the repository itself, so there it is the user's own.
    if (section === 'url') {
        if (!ofSubmodule || subsection === null || name !== 'insteadof' || value === null)
            return false;
        return origins.includes(subsection.replace(/\/$/, '')) && REPLACED_ADDRESS.test(value);
    }
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
/** The configuration text without credentials. */
function withoutCredentials(text, origins, ofSubmodule) {
    const found = configVariables(text).filter((variable) => isCredential(variable, origins, ofSubmodule));
    const valuesIn = (section) => found.filter((variable) => variable.section === section).map(({ value }) => value ?? '');
    return {
        text: removeVariables(text, (variable) => isCredential(variable, origins, ofSubmodule)),
        tokenFiles: valuesIn('includeif'),
        sshFiles: valuesIn('core').flatMap(filesOfCommand),
    };
}
/** The configuration files of the submodules within a git directory, and of theirs. */
function submoduleConfigFiles(gitDir) {
    const files = [];
    const walk = (directory, depth) => {
        if (depth > 64)
            return;
        let entries;
        try {
            entries = (0,external_node_fs_namespaceObject.readdirSync)(directory, { withFileTypes: true });
        }
        catch (error) {
            if (errors_errnoOf(error) === 'ENOENT' || errors_errnoOf(error) === 'ENOTDIR')
                return;
            throw errors_ioError('read', directory, error);
        }
        // A link is how HEAD once was written.
        const isGitDir = entries.some((entry) => entry.name === 'HEAD' && !entry.isDirectory());
        if (isGitDir) {
            files.push((0,external_node_path_namespaceObject.join)(directory, 'config'));
            walk((0,external_node_path_namespaceObject.join)(directory, 'modules'), depth + 1);
            return;
        }
        // A submodule's name may have slashes in it.
        for (const entry of entries)
            if (entry.isDirectory())
                walk((0,external_node_path_namespaceObject.join)(directory, entry.name), depth + 1);
    };
    walk((0,external_node_path_namespaceObject.join)(gitDir, 'modules'), 0);
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
            failures.push(error instanceof errors_CheckoutError ? error : errors_ioError('clean up', traces.gitDir, error));
        }
    };
    const tokenFiles = new Set();
    if (traces.credentialsPath !== undefined)
        tokenFiles.add((0,external_node_path_namespaceObject.resolve)(traces.credentialsPath));
    const sshFiles = new Set(traces.sshFiles);
    const clean = (config, ofSubmodule) => attempt(() => {
        config_file_editConfigFile(config, (text) => {
            const found = withoutCredentials(text, traces.origins, ofSubmodule);
            for (const file of found.tokenFiles)
                tokenFiles.add((0,external_node_path_namespaceObject.resolve)(file));
            if (traces.runnerTemp !== '')
                for (const name of found.sshFiles)
                    sshFiles.add((0,external_node_path_namespaceObject.join)(traces.runnerTemp, name));
            return found.text;
        });
    });
    clean((0,external_node_path_namespaceObject.join)(traces.gitDir, 'config'), false);
    attempt(() => {
        for (const config of submoduleConfigFiles(traces.gitDir))
            clean(config, true);
    });
    for (const file of sshFiles)
        attempt(() => removeSshFile(file));
    if (traces.runnerTemp === '')
        return failures;
    const inside = (0,external_node_path_namespaceObject.resolve)(traces.runnerTemp) + external_node_path_namespaceObject.sep;
    for (const file of tokenFiles) {
        // The configuration is not ours alone: only what lies in RUNNER_TEMP under a token file's name is removed. The
        // container's name for the same file falls out here.
        if (!file.startsWith(inside) || !CREDENTIALS_FILE.test(file))
            continue;
        attempt(() => {
            try {
                (0,external_node_fs_namespaceObject.rmSync)(file, { force: true });
            }
            catch (error) {
                throw errors_ioError('remove', file, error);
            }
        });
    }
    return failures;
}
/** Makes git in this repository use the token file and, if there is one, the command that has the SSH key in it. */
function includeCredentials(gitDir, workspace, repositoryPath, credentialsPath, sshCommand) {
    const config = join(gitDir, 'config');
    if (readConfigFile(config) === null) {
        throw new CheckoutError('not-a-repository', `'${gitDir}' has no configuration file`, { path: gitDir });
    }
    const sections = includeSections(workspace, repositoryPath, credentialsPath);
    if (sshCommand !== null) {
        sections.push({ section: 'core', subsection: null, variables: [['sshCommand', sshCommand]] });
    }
    editConfigFile(config, (text) => appendSections(text, sections));
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
    info(harmlessLine(line));
}
/** Runs `work` inside a foldable group of the log. */
async function logGroup(name, work) {
    startGroup(harmlessLine(name));
    try {
        return await work();
    }
    finally {
        endGroup();
    }
}
/** What the engine tells, in the log; progress only if it is wanted. */
function logObserver(showProgress) {
    const meter = new ProgressMeter({ live: false }, performance.now());
    return {
        info: logLine,
        warning: (line) => warning(line),
        progress(progress) {
            if (!showProgress)
                return;
            const line = meter.update(progress, performance.now());
            if (line !== '')
                logLine(line);
        },
    };
}

;// CONCATENATED MODULE: ./build/js/action/safe-directory.js
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
    return join(runnerTemp, randomUUID());
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
    const config = join(home, '.gitconfig');
    const text = formatSection(include(global ?? join(userHome, '.gitconfig'))) + formatSection(safe);
    try {
        mkdirSync(home, { recursive: true, mode: 0o700 });
        writeFileSync(config, text, { mode: 0o600, encoding: 'latin1' });
    }
    catch (error) {
        throw ioError('write', config, error);
    }
    return {
        HOME: home,
        XDG_CONFIG_HOME: xdg === '' ? join(userHome, '.config') : xdg,
        ...(global === undefined ? {} : { GIT_CONFIG_GLOBAL: config }),
    };
}
/** Removes it. Throws `io`. */
function removeTemporaryHome(home) {
    try {
        (0,external_node_fs_namespaceObject.rmSync)(home, { recursive: true, force: true });
    }
    catch (error) {
        throw errors_ioError('remove', home, error);
    }
}

;// CONCATENATED MODULE: ./build/js/action/state.js
/**
 * What the main phase leaves for the post phase, through the runner. Saved before the thing itself is made, so that a
 * step that is killed half-way is cleaned up after all.
 */

const NAMES = [
    'repositoryPath',
    'credentialsPath',
    'sshKeyPath',
    'sshKnownHostsPath',
    'serverOrigin',
    'temporaryHome',
];
/** Adds to the state. */
function saveStepState(state) {
    for (const name of NAMES)
        if (state[name] !== undefined)
            saveState(name, state[name]);
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

;// CONCATENATED MODULE: ./build/js/action/post.js
/**
 * After the job: takes the credentials away again. Works from the saved paths and on files alone, so it needs no git, is
 * over at once, and never fails a job.
 */






function cleanUp(environment) {
    const { repositoryPath, credentialsPath, sshKeyPath, sshKnownHostsPath, serverOrigin, temporaryHome } = readStepState();
    // The main phase ended before it touched anything.
    if (repositoryPath === undefined)
        return;
    const failures = removeCredentials({
        gitDir: (0,external_node_path_namespaceObject.join)(repositoryPath, '.git'),
        runnerTemp: environment['RUNNER_TEMP'] ?? '',
        origins: [serverOrigin ?? '', environment['GITHUB_SERVER_URL'] ?? ''],
        ...(credentialsPath === undefined ? {} : { credentialsPath }),
        sshFiles: [sshKeyPath, sshKnownHostsPath].filter((path) => path !== undefined),
    });
    for (const failure of failures)
        core_warning(harmlessLine(`Credentials may be left: ${failure.message}`));
    // Left only if the main phase was killed.
    if (temporaryHome !== undefined)
        removeTemporaryHome(temporaryHome);
    if (failures.length === 0)
        core_info('Credentials are removed.');
}
try {
    cleanUp(process.env);
}
catch (error) {
    core_warning(harmlessLine(error instanceof Error ? error.message : String(error)));
}

