/** Patches whose bodies are texts, as clients send them. */
import type { Result } from "../../../src/core/base/result";
import { applyJsonPatch } from "../../../src/api/patch/json-patch";
import { applyMergePatch } from "../../../src/api/patch/merge-patch";
import { type Patched, readPatch } from "../../../src/api/patch/patch-body";
import type { PatchError } from "../../../src/api/patch/patch-error";
import { applyStrategicMerge } from "../../../src/api/patch/strategic-merge";
import type { JsonObject } from "../../../src/api/schema/json/json-value";
import type { MessageSchema } from "../../../src/api/schema/types";

type Outcome = Result<JsonObject, PatchError>;

export function jsonPatched(current: JsonObject, text: string): Outcome {
  const body = readPatch(text, "json");
  return body.ok ? applyJsonPatch(current, body.value) : body;
}

export function mergePatched(current: JsonObject, text: string): Outcome {
  const body = readPatch(text, "merge");
  return body.ok ? objectOf(applyMergePatch(current, body.value)) : body;
}

export function strategicPatched(current: JsonObject, text: string, schema: MessageSchema): Outcome {
  const body = readPatch(text, "strategic");
  return body.ok ? objectOf(applyStrategicMerge(current, body.value, schema)) : body;
}

function objectOf(patched: Result<Patched, PatchError>): Outcome {
  return patched.ok ? { ok: true, value: patched.value.object } : patched;
}
