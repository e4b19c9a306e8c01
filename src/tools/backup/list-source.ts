/** A cluster that is backed up in portions (in-portions.ts), by the lists that it serves. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { chunksOf } from "../../api/client/body-lines";
import { type FetchAnswer, refusal } from "../../api/client/fetch-like";
import { parseJson } from "../../core/encoding/exact-json";
import type { BackupType } from "./format";
import type { BackupSource, BackupPage } from "./in-portions";
import { typeName } from "./order";

/** Objects of a page: those of a kind are some KiB each, and a page of such is held as text and as objects. */
const PAGE = 500;
/** Bytes of a page. One object may have 1.5 MiB, so a page that is longer is asked for again with fewer objects. */
const PAGE_BYTES_MAX = 2 * 1024 * 1024;
const FEWER = 8;

interface List {
  metadata?: { continue?: string; resourceVersion?: string };
  items?: KubeObject[] | null;
}

/** `fetch`: a GET of a path with its query below the cluster. */
export function listSource(types: readonly BackupType[], fetch: (path: string) => Promise<FetchAnswer>): BackupSource {
  /** of types with large objects */
  const limits = new Map<string, number>();
  const list = async (type: BackupType, query: string): Promise<List | "expired" | "long"> => {
    const path = `${type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`}/${type.resource}?${query}`;
    const answer = await fetch(path);
    if (answer.status === 410) {
      await answer.text();
      return "expired";
    }
    if (answer.status !== 200) throw refusal(answer.status, await answer.text());
    const text = await boundedText(answer);
    return text === undefined ? "long" : (parseJson(text) as List);
  };
  return {
    types,
    async page(type, token): Promise<BackupPage | "expired"> {
      const name = typeName(type);
      for (;;) {
        const limit = limits.get(name) ?? PAGE;
        const page = await list(type, `limit=${String(limit)}&continue=${encodeURIComponent(token)}`);
        if (page === "expired") return page;
        if (page === "long") {
          if (limit === 1) throw new Error(`an object of ${name} is longer than ${String(PAGE_BYTES_MAX)} bytes`);
          limits.set(name, Math.max(1, Math.floor(limit / FEWER)));
          continue;
        }
        const { metadata = {}, items } = page;
        return { objects: items ?? [], resourceVersion: metadata.resourceVersion ?? "", next: metadata.continue ?? "" };
      }
    },
    async newestRevision(type) {
      const page = await list(type, "limit=1");
      return typeof page === "string" ? "" : (page.metadata?.resourceVersion ?? "");
    },
  };
}

/** undefined: it is too long, and the rest was not read. */
async function boundedText({ body }: FetchAnswer): Promise<string | undefined> {
  if (!body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of chunksOf(body)) {
    bytes += chunk.length;
    if (bytes > PAGE_BYTES_MAX) return undefined;
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
