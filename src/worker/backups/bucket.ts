/** The bucket of backups, on R2. Every refusal is a BucketRefused. */
import { BucketRefused, type RoundPorts } from "../../tools/backup/rounds";

/** Where a round is kept between runs. No name of a cluster begins with a dot. */
const ROUND_KEY = ".round";
/** R2 deletes no more keys at once, and lists no more. */
const KEYS_MAX = 1_000;
/** Of a file of parts, in its metadata: the backup that wrote it. */
const BACKUP_ID = "backup";
const FILE = { httpMetadata: { contentType: "application/jsonl" } };

export function backupBucket(r2: R2Bucket): RoundPorts["bucket"] {
  return {
    has: (key, id) =>
      asked("head", async () => {
        const file = await r2.head(key);
        return file !== null && file.customMetadata?.[BACKUP_ID] === id;
      }),
    put: (key, bytes) => asked("put", async () => void (await r2.put(key, bytes, FILE))),
    begin: (key, id) =>
      asked("createMultipartUpload", async () => {
        const upload = await r2.createMultipartUpload(key, { ...FILE, customMetadata: { [BACKUP_ID]: id } });
        return upload.uploadId;
      }),
    part: (key, upload, number, bytes) =>
      asked("uploadPart", async () => (await r2.resumeMultipartUpload(key, upload).uploadPart(number, bytes)).etag),
    complete: (key, upload, tags) =>
      asked("completeMultipartUpload", async () => {
        await r2.resumeMultipartUpload(key, upload).complete(tags.map((etag, i) => ({ partNumber: i + 1, etag })));
      }),
    keepNewest: (name, count) =>
      asked("list", async () => {
        const { objects } = await r2.list({ prefix: `${name}/`, limit: KEYS_MAX });
        const keys = objects.map(({ key }) => key).sort();
        const old = keys.slice(0, Math.max(0, keys.length - count));
        if (old.length > 0) await r2.delete(old);
      }),
    load: () =>
      asked("get", async () => {
        const kept = await r2.get(ROUND_KEY);
        return kept ? { bytes: new Uint8Array(await kept.arrayBuffer()), tag: kept.etag } : undefined;
      }),
    save: (bytes, tag) =>
      asked("put", async () => {
        const onlyIf = tag === undefined ? { etagDoesNotMatch: "*" } : { etagMatches: tag };
        return (await r2.put(ROUND_KEY, bytes, { onlyIf }))?.etag;
      }),
  };
}

async function asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new BucketRefused(`the bucket refuses ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
