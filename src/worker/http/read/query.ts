/** Values of a query. Source: apimachinery pkg/conversion/queryparams and pkg/runtime/conversion.go. */
import { badRequest, type Status } from "../../../api/meta/status";
import { type Int64, isInt64 } from "../../../core/encoding/exact-json";
import { err, ok, type Result } from "../../../core/base/result";
import { parseDuration } from "./duration";

/** Go's conversion of a query value: everything but "false" and "0" is true, the empty value too; absence is false. */
export function queryBool(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** Digits and sign; longer texts cost more than they say, leading zeros aside. */
const INT64_TEXT_MAX = 64;

/** As `queryInt64`, but rounded beyond 2^53: for integers whose size is all that matters. */
export function queryInt(query: URLSearchParams, name: string): Result<number, Status> {
  const exact = queryInt64(query, name);
  return exact.ok ? ok(Number(exact.value)) : exact;
}

/** A query integer of 64 bits; absent = 0, empty is an error. The error is Go's. */
export function queryInt64(query: URLSearchParams, name: string): Result<Int64, Status> {
  const text = query.get(name);
  if (text === null) return ok(0);
  if (!/^[-+]?\d+$/.test(text)) return err(badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`));
  const value = Number(text);
  if (Number.isSafeInteger(value)) return ok(value);
  const exact = text.length > INT64_TEXT_MAX ? undefined : BigInt(text.replace("+", ""));
  if (!isInt64(exact)) return err(badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`));
  return ok(exact);
}

/** The `timeout` parameter that --request-timeout adds: its milliseconds, 0 when absent. Source: filters/request_deadline.go. */
export function parseTimeout(query: URLSearchParams): Result<number, Status> {
  const text = query.get("timeout");
  if (!text) return ok(0);
  const duration = parseDuration(text);
  if (!duration.ok) return err(badRequest(`invalid timeout specified in the request URL - ${duration.message}`));
  return ok(Math.max(0, duration.ms));
}
