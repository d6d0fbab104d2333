// @vercel/ncc ships no types. This is the part that scripts/build.ts uses.
declare module '@vercel/ncc' {
  interface Options {
    cache?: boolean | string;
    quiet?: boolean;
    minify?: boolean;
    sourceMap?: boolean;
    target?: string;
  }

  /** A module of webpack's statistics: its file (none for those that webpack makes), and the modules joined into it. */
  interface Module {
    nameForCondition?: string | null;
    modules?: Module[];
  }

  /** A file that webpack emits: the entry, a dynamic import(), or what several of these share. */
  interface Chunk {
    id: number;
    names: string[];
    files: string[];
  }

  interface Result {
    code: string;
    assets: Record<string, { source: string | Buffer }>;
    stats: { toJson(options: object): { modules?: Module[]; chunks?: Chunk[] } };
  }

  export type { Chunk, Module, Options, Result };
  export default function ncc(entry: string, options: Options): Promise<Result>;
}
