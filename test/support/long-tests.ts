/**
 * Whether what takes long and rarely shows anything runs too: `npm run test:long`, or LONG_TESTS=1. The ordinary run has a
 * few of each kind.
 */
export const LONG = process.env['LONG_TESTS'] === '1';
