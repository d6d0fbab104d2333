/**
 * The version that `--version` prints. A constant, because the bundle stands alone and must not change when some other
 * line of package.json does; a unit test holds it equal to package.json's.
 */
export const VERSION = '0.1.0';
