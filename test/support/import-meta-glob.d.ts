/** Vite's glob import; each entry loads the text of one file. */
interface ImportMeta {
  glob(pattern: string, options: { query: "?raw"; import: "default" }): Record<string, () => Promise<unknown>>;
}
