/**
 * A backup of one cluster that is written while it is read, in portions: by who can hold neither the cluster nor a thread for all of it.
 * The file (format.ts, version 2) goes into a bucket. It is there under its name when it is whole, and not before. A small one is put at once. A large
 * one is an upload of parts that ends with their list.
 *
 * Between portions the progress is plain data, which the caller keeps. A death repeats the work since the progress that was kept. Pages are read and
 * parts uploaded once more under their numbers, and the tags of the later ones count. A death behind the end of the upload finds the file.
 *
 * Each type is read at one revision, in the order that restores need (order.ts). Where a history ends meanwhile, its type begins again.
 * Types that share addresses are read again while they contradict each other, as `npm run backup` does.
 */
import type { IPAddress, KubeObject, Service, ServiceCIDR } from "../../api/meta/kubernetes";
import { isDerived } from "../../api/registry/ip-addresses/parent-service";
import { printJson } from "../../core/encoding/exact-json";
import type { Digest } from "../../core/base/ports";
import { contradictions } from "./addresses";
import { type BackupType, endLine, headerLine, headsLine, pieceLines } from "./format";
import { MARK } from "./mark";
import { inReadingOrder, IP_ADDRESSES, isBackedUp, LEASES, SERVICE_CIDRS, SERVICES, typeName } from "./order";

/** Bytes of a part. R2 takes none below 5 MiB but the last, and all others of one size. */
const PART_BYTES = 5 * 1024 * 1024;
/** How often types that share addresses are read, and a type whose history ended. */
const READINGS_MAX = 5;
/** Types that are read again together while they contradict each other. */
const SHARING: readonly string[] = [SERVICES, IP_ADDRESSES, SERVICE_CIDRS];

export interface BackupPage {
  objects: KubeObject[];
  /** of the whole list */
  resourceVersion: string;
  /** token of the next page; "" = this is the last one */
  next: string;
}

/** The cluster. */
export interface BackupSource {
  types: readonly BackupType[];
  /** "expired": the history of the list has ended. Rejects where the cluster does not answer. */
  page(type: BackupType, token: string): Promise<BackupPage | "expired">;
  /** a resourceVersion that the type has reached; "" = there is none */
  newestRevision(type: BackupType): Promise<string>;
}

/** The bucket. Everything rejects where it refuses. */
export interface BackupBucket {
  /** Whether the file is there, and is the one of this backup (`id` of `begin`). */
  has(key: string, id: string): Promise<boolean>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Begins an upload of parts, whose file bears `id`; answers the id of the upload. */
  begin(key: string, id: string): Promise<string>;
  /** Numbers begin at 1; a number that comes again replaces its part. Answers the tag of the part. */
  part(key: string, upload: string, number: number, bytes: Uint8Array): Promise<string>;
  /** The file is there. */
  complete(key: string, upload: string, tags: readonly string[]): Promise<void>;
}

/** How far a backup has come: plain data, but for `rest`. */
export interface BackupProgress {
  key: string;
  /** see BackupBeginning */
  id: string;
  /** types that are still to be read, by typeName, the one under way first */
  waiting: string[];
  /** of the type under way: its next page and its revision; "" = it begins */
  token: string;
  resourceVersion: string;
  /** by typeName: how often the type was begun */
  readings: Record<string, number>;
  heads: Record<string, string>;
  /** what of the types that share addresses is compared */
  shared: { services: Service[]; ipAddresses: IPAddress[]; serviceCIDRs: ServiceCIDR[] };
  /** the chain of sums, see format.ts */
  sum: string;
  objects: number;
  upload?: { id: string; tags: string[] };
  /** bytes that no part has yet */
  rest: Uint8Array;
}

export interface BackupPorts {
  source: BackupSource;
  bucket: BackupBucket;
  digest: Digest;
  /** of a part; PART_BYTES */
  partBytes?: number;
}

/** "contradictory": the file is in the bucket, but types that share addresses contradict each other in it, however often they were read. */
export type BackupOutcome = "underWay" | "whole" | "contradictory";

export interface BackupBeginning {
  key: string;
  /** of this backup alone: another one may have had the key before, of this cluster or of an earlier life of its name */
  id: string;
  createdAtMs: number;
  /** where it was taken */
  server: string;
  serverVersion: string;
}

/** A backup of which nothing was read. */
export async function beginBackup({ source, digest }: BackupPorts, beginning: BackupBeginning): Promise<BackupProgress> {
  const { key, id, createdAtMs, server, serverVersion } = beginning;
  const progress: BackupProgress = {
    key,
    id,
    waiting: inReadingOrder(source.types.filter(isBackedUp)).map(typeName),
    token: "",
    resourceVersion: "",
    readings: {},
    heads: {},
    shared: { services: [], ipAddresses: [], serviceCIDRs: [] },
    sum: "",
    objects: 0,
    rest: new Uint8Array(),
  };
  await append(progress, digest, [headerLine({ createdAt: new Date(createdAtMs).toISOString(), server, serverVersion }, 2)]);
  return progress;
}

/**
 * Goes on until the file is in the bucket, or until `mayGoOn` says no behind a page ("underWay"). Changes `progress`, which is to be kept then.
 * Rejects where the cluster or the bucket does: `progress` counts no more, that of before does.
 */
export async function continueBackup(progress: BackupProgress, ports: BackupPorts, mayGoOn: () => boolean): Promise<BackupOutcome> {
  const { source, bucket, digest, partBytes = PART_BYTES } = ports;
  const types = new Map(source.types.map((type) => [typeName(type), type]));
  // The end of the upload may be all that a run before did not live to see.
  if (progress.upload && (await bucket.has(progress.key, progress.id))) return "whole";
  while (progress.waiting.length > 0) {
    await readPage(progress, ports, types);
    await uploadParts(progress, bucket, partBytes);
    if (progress.waiting.length === 0 && mayReadSharing(progress) && isContradictory(progress))
      progress.waiting = inReadingOrder(source.types).map(typeName).filter(isSharing);
    if (progress.waiting.length > 0 && !mayGoOn()) return "underWay";
  }
  for (const type of source.types) if (!isBackedUp(type)) progress.heads[typeName(type)] = await source.newestRevision(type);
  const heads = Object.fromEntries(Object.entries(progress.heads).filter(([, head]) => head !== ""));
  await append(progress, digest, [headsLine(heads)]);
  const { objects, sum: sha256 } = progress;
  progress.rest = joined(progress.rest, [endLine({ types: Object.keys(progress.readings).length, objects, sha256 })]);
  await uploadParts(progress, bucket, partBytes);
  const { key, upload, rest } = progress;
  if (!upload) await bucket.put(key, rest);
  else {
    if (rest.length > 0) upload.tags.push(await bucket.part(key, upload.id, upload.tags.length + 1, rest));
    await bucket.complete(key, upload.id, upload.tags);
  }
  return isContradictory(progress) ? "contradictory" : "whole";
}

/** One page of the type under way. */
async function readPage(progress: BackupProgress, { source, digest }: BackupPorts, types: ReadonlyMap<string, BackupType>): Promise<void> {
  const [name = ""] = progress.waiting;
  const type = types.get(name);
  if (!type) {
    // The server serves it no more. A section that has begun has no end then.
    if (progress.token !== "") throw new Error(`${name} is served no more`);
    progress.waiting.shift();
    return;
  }
  const begins = progress.token === "";
  const page = await source.page(type, progress.token);
  if (page === "expired") {
    if ((progress.readings[name] ?? 0) >= READINGS_MAX) throw new Error(`${name} changes faster than it can be read`);
    progress.token = "";
    return;
  }
  const { objects, next } = page;
  if (begins) {
    progress.readings[name] = (progress.readings[name] ?? 0) + 1;
    progress.resourceVersion = page.resourceVersion;
    progress.heads[name] = page.resourceVersion;
    forgetShared(progress, name);
  }
  keepShared(progress, name, objects);
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  // The mark of an unfinished restore belongs to this cluster alone.
  const isMark = ({ metadata }: KubeObject): boolean =>
    name === LEASES && metadata?.namespace === MARK.namespace && metadata.name === MARK.name;
  const texts = objects.filter((object) => !isMark(object)).map((object) => printJson({ ...object, apiVersion, kind: type.kind }));
  const section = { type, resourceVersion: progress.resourceVersion, objects: texts };
  await append(progress, digest, pieceLines(section, progress.readings[name] ?? 1));
  progress.objects += texts.length;
  progress.token = next;
  if (next === "") progress.waiting.shift();
}

function isSharing(name: string): boolean {
  return SHARING.includes(name);
}

function forgetShared({ shared }: BackupProgress, name: string): void {
  if (name === SERVICES) shared.services = [];
  else if (name === IP_ADDRESSES) shared.ipAddresses = [];
  else if (name === SERVICE_CIDRS) shared.serviceCIDRs = [];
}

/** What `contradictions` looks at, and no more: there may be a hundred thousand Services. */
function keepShared({ shared }: BackupProgress, name: string, objects: readonly KubeObject[]): void {
  const named = ({ metadata: { name: own, namespace } = {} }: KubeObject) => ({
    name: own,
    ...(namespace === undefined ? {} : { namespace }),
  });
  if (name === SERVICES) {
    for (const service of objects as Service[]) {
      const { type, clusterIP, clusterIPs } = service.spec ?? {};
      shared.services.push({ metadata: named(service), spec: { type, clusterIP, clusterIPs } } as Service);
    }
  } else if (name === IP_ADDRESSES) {
    for (const address of objects as IPAddress[])
      if (!isDerived(address)) shared.ipAddresses.push({ metadata: named(address), spec: address.spec } as IPAddress);
  } else if (name === SERVICE_CIDRS) {
    for (const range of objects as ServiceCIDR[]) shared.serviceCIDRs.push({ metadata: named(range), spec: range.spec } as ServiceCIDR);
  }
}

/** Whether the types that share addresses may be read once more. */
function mayReadSharing({ readings }: BackupProgress): boolean {
  return SHARING.every((name) => (readings[name] ?? READINGS_MAX) < READINGS_MAX);
}

function isContradictory({ shared }: BackupProgress): boolean {
  return contradictions(shared.services, shared.ipAddresses, shared.serviceCIDRs).length > 0;
}

/** A piece of the file. */
async function append(progress: BackupProgress, digest: Digest, lines: readonly string[]): Promise<void> {
  const summed = joined(new TextEncoder().encode(progress.sum), lines);
  const before = progress.sum.length;
  progress.sum = await digest(summed);
  progress.rest = concatenated(progress.rest, summed.subarray(before));
}

async function uploadParts(progress: BackupProgress, bucket: BackupBucket, partBytes: number): Promise<void> {
  // A file of one part needs no upload of parts.
  while (progress.rest.length > partBytes) {
    progress.upload ??= { id: await bucket.begin(progress.key, progress.id), tags: [] };
    const { id, tags } = progress.upload;
    tags.push(await bucket.part(progress.key, id, tags.length + 1, progress.rest.subarray(0, partBytes)));
    progress.rest = progress.rest.slice(partBytes);
  }
}

function joined(bytes: Uint8Array, lines: readonly string[]): Uint8Array {
  return concatenated(bytes, new TextEncoder().encode(`${lines.join("\n")}\n`));
}

function concatenated(one: Uint8Array, other: Uint8Array): Uint8Array {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
}
