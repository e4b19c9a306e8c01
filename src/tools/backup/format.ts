/**
 * The file of a backup: JSON Lines.
 *
 *   {"format":"servicenet-backup","version":1,"createdAt":…,"server":…,"serverVersion":…,"heads":{"services":"4711",…}}
 *   {"type":{"group":"","version":"v1","resource":"services","kind":"Service",…},"resourceVersion":"4711","count":2}
 *   {"apiVersion":"v1","kind":"Service",…}                      one line for each object of the type
 *   {"apiVersion":"v1","kind":"Service",…}
 *   …                                                           further types
 *   {"end":{"types":9,"objects":2012,"sha256":…}}               of everything before this line
 *
 * Version 2 is written piece by piece, by who neither holds a type whole nor hashes a file in one go (in-portions.ts). It differs in this:
 *
 *   {"type":…,"resourceVersion":…,"count":2,"reading":1}        a type may have several sections. Those of its last reading are the type
 *   {"heads":{"services":"4711",…}}                             before the end, in place of those in the header
 *   {"end":…}                                                   `sha256` is the last of a chain: each piece has that of the sum of the piece before and
 *                                                               of its own lines. A piece begins at each line with "type" or "heads"
 *
 * A file is read as a whole before anything is done with it. One that is cut short, altered or of a newer version is refused.
 */
import { err, ok, type Result } from "../../core/base/result";
import type { KubeObject } from "../../api/meta/kubernetes";
import { qualifiedResource } from "../../api/meta/status";

const FORMAT = "servicenet-backup";
/** Grows with each change that older readers could not restore. */
const VERSION = 2;
/** of files that are written as a whole */
const WHOLE = 1;

export interface BackupHeader {
  createdAt: string;
  /** where it was taken */
  server: string;
  /** `gitVersion` of that server */
  serverVersion: string;
  /** by typeName, of every served type, those that are not backed up too: a resourceVersion that the server had reached. Older backups have none */
  heads?: Readonly<Record<string, string>>;
}

/** A resource as discovery describes it. */
export interface BackupType {
  /** "" for core */
  group: string;
  version: string;
  resource: string;
  kind: string;
  namespaced: boolean;
  /** it has the subresource status */
  hasStatus: boolean;
}

/** All objects of one type, of one moment. */
export interface BackupSection {
  type: BackupType;
  resourceVersion: string;
  /** JSON texts */
  objects: string[];
}

export interface Backup {
  header: BackupHeader;
  sections: BackupSection[];
  /** names the file */
  sha256: string;
}

/** Lines without their ends. */
export function headerLine(header: BackupHeader, version: 1 | 2 = WHOLE): string {
  return JSON.stringify({ format: FORMAT, version, ...header });
}

/** Whether a text begins as a file of any version does. */
export function beginsAsBackup(text: string): boolean {
  return text.startsWith(`{"format":${JSON.stringify(FORMAT)},`);
}

export function sectionLines({ type, resourceVersion, objects }: BackupSection): string[] {
  return [JSON.stringify({ type, resourceVersion, count: objects.length }), ...objects];
}

/** A piece of a type, in version 2. `reading`: how often the type was read from its beginning, this time included. */
export function pieceLines({ type, resourceVersion, objects }: BackupSection, reading: number): string[] {
  return [JSON.stringify({ type, resourceVersion, count: objects.length, reading }), ...objects];
}

export function headsLine(heads: Readonly<Record<string, string>>): string {
  return JSON.stringify({ heads });
}

export function endLine(counts: { types: number; objects: number; sha256: string }): string {
  return JSON.stringify({ end: counts });
}

/** The sums of the lines that a reader was given before. */
export interface LineSums {
  /** SHA-256 since the beginning or the last link, in hexadecimal */
  sha256(): string;
  /** A new sum begins, with the text of the sum so far. */
  link(): void;
}

/** Takes a file line by line. Errors are sentences whose subject is the file. */
export class BackupReader {
  #header: BackupHeader | undefined;
  #version = WHOLE;
  /** by typeName */
  readonly #sections = new Map<string, BackupSection & { reading: number }>();
  #current: (BackupSection & { reading: number }) | undefined;
  /** objects that the current section still lacks */
  #missing = 0;
  #lines = 0;
  #objects = 0;
  #end: { types: number; objects: number; sha256: string } | undefined;

  /** Lines in order. `sums` are those of all lines before this one, their ends included. */
  take(line: string, sums: LineSums): Result<undefined, string> {
    this.#lines++;
    if (this.#end) return err(`has something behind its end (line ${this.#lines})`);
    const value = objectIn(line);
    if (!this.#header) return this.#takeHeader(value);
    if (!value) return err(`is damaged: line ${this.#lines} is no JSON object`);
    if (this.#missing > 0) return this.#takeObject(line, value);
    if ("end" in value) return this.#takeEnd(value["end"], sums.sha256());
    if (this.#version > WHOLE) sums.link();
    if (this.#version > WHOLE && "heads" in value) return this.#takeHeads(value["heads"]);
    return this.#takeSection(value);
  }

  /** After the last line. */
  end(): Result<Backup, string> {
    if (!this.#header) return err("is empty");
    if (!this.#end) return err(`is cut short: it ends after ${this.#lines} lines, without its closing line`);
    const sections = [...this.#sections.values()].map(({ reading: _, ...section }) => section);
    return ok({ header: this.#header, sections, sha256: this.#end.sha256 });
  }

  #takeHeader(value: Record<string, unknown> | undefined): Result<undefined, string> {
    if (value?.["format"] !== FORMAT) {
      const isDump = typeof value?.["kind"] === "string" || value === undefined;
      return err(`is no backup${isDump ? " (npm run import takes what kubectl printed)" : ""}`);
    }
    const { version, createdAt, server, serverVersion, heads } = value;
    if (typeof version !== "number" || version > VERSION)
      return err(`has version ${String(version)} of the format, and this program knows none above ${VERSION}: use a newer one`);
    if (heads !== undefined && !isHeads(heads)) return err("is damaged: its first line has heads that are no resourceVersions");
    this.#version = version;
    const read = { createdAt: String(createdAt), server: String(server), serverVersion: String(serverVersion) };
    this.#header = heads === undefined ? read : { ...read, heads };
    return ok(undefined);
  }

  #takeHeads(heads: unknown): Result<undefined, string> {
    if (!this.#header || !isHeads(heads)) return err(`is damaged: line ${this.#lines} has heads that are no resourceVersions`);
    this.#header = { ...this.#header, heads };
    return ok(undefined);
  }

  #takeSection(value: Record<string, unknown>): Result<undefined, string> {
    const { type, resourceVersion, count, reading = 1 } = value;
    if (!isType(type) || typeof resourceVersion !== "string" || typeof count !== "number" || typeof reading !== "number")
      return err(`is damaged: line ${this.#lines} begins no type`);
    const name = qualifiedResource(type);
    const before = this.#sections.get(name);
    const goesOn = before?.reading === reading;
    if (before && (this.#version === WHOLE || before.reading > reading || (goesOn && before.resourceVersion !== resourceVersion)))
      return err(`is damaged: line ${this.#lines} begins ${name} again`);
    this.#current = goesOn ? before : { type, resourceVersion, objects: [], reading };
    this.#sections.set(name, this.#current);
    this.#missing = count;
    return ok(undefined);
  }

  #takeObject(line: string, value: Record<string, unknown>): Result<undefined, string> {
    const section = this.#current;
    const name = (value as KubeObject).metadata?.name;
    if (!section || value["kind"] !== section.type.kind || typeof name !== "string")
      return err(`is damaged: line ${this.#lines} is no ${section?.type.kind ?? "object"}`);
    section.objects.push(line);
    this.#objects++;
    this.#missing--;
    return ok(undefined);
  }

  #takeEnd(value: unknown, sha256: string): Result<undefined, string> {
    const { types, objects, sha256: wanted } = value as { types?: unknown; objects?: unknown; sha256?: unknown };
    if (wanted !== sha256) return err("was altered: its checksum is another one");
    if (types !== this.#sections.size || objects !== this.#objects)
      return err("is damaged: its closing line counts something else than there is");
    this.#end = { types: this.#sections.size, objects: this.#objects, sha256 };
    return ok(undefined);
  }
}

function objectIn(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isHeads(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((head) => typeof head === "string" && /^\d+$/.test(head));
}

function isType(value: unknown): value is BackupType {
  const { group, version, resource, kind, namespaced, hasStatus } = (value ?? {}) as Partial<Record<keyof BackupType, unknown>>;
  const isText = [group, version, resource, kind].every((text) => typeof text === "string");
  return isText && typeof namespaced === "boolean" && typeof hasStatus === "boolean";
}
