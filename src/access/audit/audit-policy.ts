/** How much of which requests the audit log has: AUDIT_POLICY, as "writes=Metadata,reads=None,sample=0.01". Upstream: apiserver pkg/audit/policy. */
import { FNV_OFFSET, fnv1a } from "../../core/encoding/fnv1a";
import { err, ok, type Result } from "../../core/base/result";

const LEVELS = ["None", "Metadata", "Request"] as const;
export type AuditLevel = (typeof LEVELS)[number];

export interface AuditPolicy {
  readonly writes: AuditLevel;
  readonly reads: AuditLevel;
  /** the part of the reads that are written, 0..1 */
  readonly sample: number;
}

const READING: ReadonlySet<string> = new Set(["get", "list", "watch", "head", "options"]);
const HASHES = 2 ** 32;

/** The policy, or everything that is wrong with its text. A key that is absent has its default: all writes, and no reads. */
export function parseAuditPolicy(text: string): Result<AuditPolicy, string[]> {
  const policy: { writes: AuditLevel; reads: AuditLevel; sample: number } = { writes: "Metadata", reads: "None", sample: 1 };
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [key = "", value = "", ...more] = part.split("=").map((one) => one.trim());
    if (seen.has(key)) errors.push(`AUDIT_POLICY: ${key} stands there twice`);
    seen.add(key);
    if (key === "writes" || key === "reads") {
      const level = more.length === 0 ? LEVELS.find((one) => one === value) : undefined;
      if (level) policy[key] = level;
      else errors.push(`AUDIT_POLICY: ${key} must be one of ${LEVELS.join(", ")}, got ${JSON.stringify([value, ...more].join("="))}`);
    } else if (key === "sample") {
      const sample = more.length === 0 && /^(0|1|0?\.\d{1,9}|1\.0{1,9})$/.test(value) ? Number(value) : -1;
      if (sample >= 0) policy.sample = sample;
      else errors.push(`AUDIT_POLICY: sample must be a number between 0 and 1, got ${JSON.stringify([value, ...more].join("="))}`);
    } else errors.push(`AUDIT_POLICY: ${JSON.stringify(part)} must begin with writes=, reads= or sample=`);
  }
  return errors.length > 0 ? err(errors) : ok(policy);
}

/**
 * The level of one request. The id decides which reads are sampled: the same one everywhere. A client may choose its id, and so whether its reads are
 * sampled; its writes are written in any case.
 */
export function auditLevelOf(policy: AuditPolicy, verb: string, auditId: string): AuditLevel {
  if (!READING.has(verb)) return policy.writes;
  if (policy.reads === "None" || policy.sample <= 0) return "None";
  return policy.sample >= 1 || mixed(fnv1a(FNV_OFFSET, auditId)) < policy.sample * HASHES ? policy.reads : "None";
}

/** Spreads the last characters of a text over the whole hash. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (once ^ (once >>> 13)) >>> 0;
}
