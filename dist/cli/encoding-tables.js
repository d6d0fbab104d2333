export const id = 122;
export const ids = [122];
export const modules = {

/***/ 8453:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   UNMAPPABLE: () => (/* binding */ UNMAPPABLE),
/* harmony export */   characterTable: () => (/* binding */ characterTable)
/* harmony export */ });
/* harmony import */ var iconv_lite__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1748);
/**
 * Tables of characters, from iconv-lite. Loaded only where a file's encoding needs one (`loadTables`), since the library's data
 * take time to read.
 *
 * iconv-lite writes '?' for what an encoding does not have, and takes some characters that GNU libc does not; so each
 * character is encoded by itself once, and counts only if it comes back. Where the two differ otherwise, libc's way is
 * written down below, as far as the test against it goes.
 */

/** What `CharacterTable.get` gives: the length in the high byte, the bytes below. */
const UNMAPPABLE = 0xff000000;
const UNKNOWN = 0;
const BMP = 0x10000;
/** C1 control characters, which libc's EUC encodings pass on, but for two that begin longer codes in EUC-JP. */
function controls(except) {
    return Array.from({ length: 0x20 }, (_, i) => [0x80 + i, 0x80 + i]).filter(([code]) => !except.includes(code));
}
const DIFFERENCES = {
    // The library has Microsoft's additions to JIS X 0208 (NEC and IBM rows) and its view of some signs.
    SHIFT_JIS: {
        refuses: ([first = 0]) => first === 0x80 || first === 0x87 || first >= 0xfa,
        without: [0x2225, 0xff0d, 0xff5e],
        more: [
            [0xa2, 0x8191],
            [0xa3, 0x8192],
            [0xa5, 0x5c],
            [0xac, 0x81ca],
            [0x2016, 0x8161],
            [0x203e, 0x7e],
            [0x2212, 0x817c],
            [0x301c, 0x8160],
        ],
    },
    'EUC-JP': {
        refuses: ([first = 0]) => first === 0xad || first >= 0xf9,
        without: [0x2225, 0xff0d, 0xffe0, 0xffe1, 0xffe2],
        more: [
            ...controls([0x8e, 0x8f]),
            [0xa2, 0xa1f1],
            [0xa3, 0xa1f2],
            [0xa5, 0x5c],
            [0xac, 0xa2cc],
            [0x2016, 0xa1c2],
            [0x203e, 0x7e],
            [0x2212, 0xa1dd],
            [0x301c, 0xa1c1],
        ],
    },
    // The library's is Microsoft's code page 949, which has more syllables.
    'EUC-KR': {
        refuses: ([first = 0, second = 0]) => first < 0xa1 || second < 0xa1,
        without: [],
        more: [...controls([]), [0x20a9, 0xa3dc], [0x327e, 0xa2e8]],
    },
};
class CharacterTable {
    #name;
    #difference;
    #codes = new Uint32Array(BMP);
    constructor(name) {
        this.#name = name;
        this.#difference = DIFFERENCES[name];
        for (const point of this.#difference?.without ?? [])
            this.#codes[point] = UNMAPPABLE;
        for (const [point, code] of this.#difference?.more ?? []) {
            this.#codes[point] = ((code > 0xff ? 2 : 1) << 24) | code;
        }
        // The library reads bytes that mean nothing as this character.
        this.#codes[0xfffd] = UNMAPPABLE;
    }
    /** The code of a character beyond ASCII; none of these encodings has one beyond the Basic Multilingual Plane. */
    get(point) {
        if (point >= BMP)
            return UNMAPPABLE;
        const known = this.#codes[point] ?? UNKNOWN;
        if (known !== UNKNOWN)
            return known;
        return (this.#codes[point] = this.#encode(String.fromCharCode(point)));
    }
    #encode(character) {
        const bytes = iconv_lite__WEBPACK_IMPORTED_MODULE_0__.encode(character, this.#name);
        const { length } = bytes;
        if (length === 0 || length > 3 || iconv_lite__WEBPACK_IMPORTED_MODULE_0__.decode(bytes, this.#name) !== character)
            return UNMAPPABLE;
        if (this.#difference?.refuses(bytes) === true)
            return UNMAPPABLE;
        return ((length << 24) | bytes.readUIntBE(0, length)) >>> 0;
    }
}
const tables = new Map();
/** The table of this name, made once for each thread. */
function characterTable(name) {
    let table = tables.get(name);
    if (table === undefined)
        tables.set(name, (table = new CharacterTable(name)));
    return table;
}


/***/ })

};
