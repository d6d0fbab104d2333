import { expect, it } from 'vitest';
import { heldBytes } from '../../../src/engine/checkout/held-memory.ts';
import { allocateTables, growEntries } from '../../../src/engine/checkout/tables.ts';
import { serializeIndex } from '../../../src/engine/index/serialize-index.ts';
import { parseIndex } from '../../../src/engine/index/parse-index.ts';
import { SHA1, SHA256 } from '../../../src/engine/oid.ts';

it.each([SHA1, SHA256])('counts every table, the old index and the new one: $name', (format) => {
  const tables = allocateTables(64, 64 * 64, format);
  tables.count = 64;
  tables.modes.fill(0o100644);
  const text = new TextEncoder();
  for (let i = 0; i < 64; i++) {
    tables.pathBytes.set(text.encode(`directory/file-${String(i).padStart(3, '0')}`.padEnd(64, '-')), i * 64);
    tables.pathOffsets[i + 1] = (i + 1) * 64;
  }
  const file = serializeIndex(tables, null);
  const allocated = Object.values(tables).reduce(
    (sum: number, table: unknown) => sum + (ArrayBuffer.isView(table) ? table.byteLength : 0),
    0,
  );
  const alone = heldBytes(tables, null);
  // But for the last offset, the file's header and hash, and padding.
  expect(Math.abs(alone - allocated - file.length)).toBeLessThan(64 * 8 + 64);
  const index = parseIndex(file, 'index', format);
  const old = Object.values(index).reduce(
    (sum: number, table: unknown) => sum + (ArrayBuffer.isView(table) ? table.byteLength : 0),
    0,
  );
  expect(heldBytes(tables, index) - alone).toBe(old);
  // Room that is not used is not counted: it costs nothing.
  growEntries(tables);
  expect(heldBytes(tables, null)).toBe(alone);
});
