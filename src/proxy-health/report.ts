/**
 * What an agent says about the Service proxy of its node. It has durations alone: nobody compares the clocks of nodes with the server's.
 *
 *   {}                                                  the agent lives; no proxy was asked
 *   {"IPv4": {"appliedAgoMs": 1200}}                    the last sync was 1.2 s ago, and no change waits
 *   {"IPv4": {"appliedAgoMs": 1200, "queuedForMs": 7}}  a change has waited for 7 ms
 *   {"IPv4": {"healthy": false}}                        as kube-proxy's own /healthz has it
 *
 * A report replaces the one before, so it may come twice.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../api/meta/field-errors";
import { getMember, isJsonObject, type JsonObject, type JsonValue } from "../api/schema/json/json-value";
import { err, ok, type Result } from "../core/base/result";
import { FAMILIES, type Family } from "../core/net/family";

/** A report of both families has some 100 bytes. */
export const REPORT_MAX_BYTES = 4_096;

/** Ten years: whatever is longer is a mistake, and dates stay within what a date can be. */
const DURATION_MAX_MS = 10 * 365 * 24 * 3_600_000;

const DURATIONS = ["queuedForMs", "appliedAgoMs"] as const;

export interface FamilyReport {
  /** how long the oldest change has waited that is not applied; absent = none waits */
  readonly queuedForMs?: number;
  /** age of the last sync; absent = there was none, or it is not known */
  readonly appliedAgoMs?: number;
  /** the proxy's own judgement, in place of `queuedForMs` */
  readonly healthy?: boolean;
}

export type Report = Readonly<Partial<Record<Family, FamilyReport>>>;

/** The report of a body, or everything that is wrong with it. */
export function parseReport(body: JsonObject): Result<Report, FieldError[]> {
  const errors: FieldError[] = [];
  const report: Partial<Record<Family, FamilyReport>> = {};
  for (const key of Object.keys(body)) {
    const family = FAMILIES.find((known) => known === key);
    if (family) report[family] = parseFamily(family, body[family], errors);
    else errors.push(notSupported("family", key, FAMILIES));
  }
  return errors.length > 0 ? err(errors) : ok(report);
}

function parseFamily(field: Family, value: JsonValue | undefined, errors: FieldError[]): FamilyReport {
  if (!isJsonObject(value)) {
    errors.push(invalidValue(field, value, "must be an object"));
    return {};
  }
  for (const key of Object.keys(value)) {
    if (key !== "healthy" && !DURATIONS.some((known) => known === key)) {
      errors.push(forbiddenField(`${field}.${key}`, "a report has queuedForMs, appliedAgoMs and healthy"));
    }
  }
  const report: { -readonly [K in keyof FamilyReport]: FamilyReport[K] } = {};
  for (const key of DURATIONS) {
    const duration = getMember(value, key);
    if (duration === undefined) continue;
    if (isDuration(duration)) report[key] = duration;
    else errors.push(invalidValue(`${field}.${key}`, duration, `must be a whole number of milliseconds between 0 and ${DURATION_MAX_MS}`));
  }
  const healthy = getMember(value, "healthy");
  if (healthy !== undefined) {
    if (typeof healthy !== "boolean") errors.push(invalidValue(`${field}.healthy`, healthy, "must be true or false"));
    else report.healthy = healthy;
    if (Object.hasOwn(value, "queuedForMs")) errors.push(forbiddenField(`${field}.queuedForMs`, "may not be set beside healthy"));
  }
  if (Object.keys(value).length === 0) errors.push(required(field, "must have queuedForMs, appliedAgoMs or healthy"));
  return report;
}

function isDuration(value: JsonValue): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= DURATION_MAX_MS;
}
