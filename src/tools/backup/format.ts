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
 * A file is read as a whole before anything is done with it. One that is cut short, altered or of a newer version is refused.
 */
import { err, ok, type Result } from "../../core/base/result";
import type { KubeObject } from "../../api/meta/kubernetes";

const FORMAT = "servicenet-backup";
/** Grows with each change that older readers could not restore. */
const VERSION = 1;

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
export function headerLine(header: BackupHeader): string {
  return JSON.stringify({ format: FORMAT, version: VERSION, ...header });
}

/** Whether a text begins as a file of any version does. */
export function beginsAsBackup(text: string): boolean {
  return text.startsWith(`{"format":${JSON.stringify(FORMAT)},`);
}

export function sectionLines({ type, resourceVersion, objects }: BackupSection): string[] {
  return [JSON.stringify({ type, resourceVersion, count: objects.length }), ...objects];
}

export function endLine(counts: { types: number; objects: number; sha256: string }): string {
  return JSON.stringify({ end: counts });
}

/** Takes a file line by line. Errors are sentences whose subject is the file. */
export class BackupReader {
  #header: BackupHeader | undefined;
  readonly #sections: BackupSection[] = [];
  /** objects that the current section still lacks */
  #missing = 0;
  #lines = 0;
  #end: { types: number; objects: number; sha256: string } | undefined;

  /** Lines in order. `sha256` of all lines before this one, their ends included, is asked for at the last line only. */
  take(line: string, sha256: () => string): Result<undefined, string> {
    this.#lines++;
    if (this.#end) return err(`has something behind its end (line ${this.#lines})`);
    const value = objectIn(line);
    if (!this.#header) return this.#takeHeader(value);
    if (!value) return err(`is damaged: line ${this.#lines} is no JSON object`);
    if (this.#missing > 0) return this.#takeObject(line, value);
    if ("end" in value) return this.#takeEnd(value["end"], sha256());
    return this.#takeSection(value);
  }

  /** After the last line. */
  end(): Result<Backup, string> {
    if (!this.#header) return err("is empty");
    if (!this.#end) return err(`is cut short: it ends after ${this.#lines} lines, without its closing line`);
    return ok({ header: this.#header, sections: this.#sections, sha256: this.#end.sha256 });
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
    const read = { createdAt: String(createdAt), server: String(server), serverVersion: String(serverVersion) };
    this.#header = heads === undefined ? read : { ...read, heads };
    return ok(undefined);
  }

  #takeSection(value: Record<string, unknown>): Result<undefined, string> {
    const { type, resourceVersion, count } = value;
    if (!isType(type) || typeof resourceVersion !== "string" || typeof count !== "number")
      return err(`is damaged: line ${this.#lines} begins no type`);
    this.#sections.push({ type, resourceVersion, objects: [] });
    this.#missing = count;
    return ok(undefined);
  }

  #takeObject(line: string, value: Record<string, unknown>): Result<undefined, string> {
    const section = this.#sections.at(-1);
    const name = (value as KubeObject).metadata?.name;
    if (!section || value["kind"] !== section.type.kind || typeof name !== "string")
      return err(`is damaged: line ${this.#lines} is no ${section?.type.kind ?? "object"}`);
    section.objects.push(line);
    this.#missing--;
    return ok(undefined);
  }

  #takeEnd(value: unknown, sha256: string): Result<undefined, string> {
    const { types, objects, sha256: wanted } = value as { types?: unknown; objects?: unknown; sha256?: unknown };
    const read = this.#sections.reduce((sum, section) => sum + section.objects.length, 0);
    if (wanted !== sha256) return err("was altered: its checksum is another one");
    if (types !== this.#sections.length || objects !== read) return err("is damaged: its closing line counts something else than there is");
    this.#end = { types: this.#sections.length, objects: read, sha256 };
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
