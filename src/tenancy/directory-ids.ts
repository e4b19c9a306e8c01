/** All clusters of the directory. */
import { DIRECTORY_PREFIX } from "./directory-keys";

/** One page of keys, as KV lists them. */
export type KeyPage = { readonly keys: readonly { readonly name: string }[] } & (
  { readonly list_complete: true } | { readonly list_complete: false; readonly cursor: string }
);

/** The ids of all clusters in the directory. `list`: the page at the cursor, without one the first page. Rejects as `list` does. */
export async function directoryIds(list: (asked: { prefix: string; cursor?: string }) => Promise<KeyPage>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await list({ prefix: DIRECTORY_PREFIX, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...page.keys.map(({ name }) => name.slice(DIRECTORY_PREFIX.length)));
    if (page.list_complete) return ids;
    cursor = page.cursor;
  }
}
