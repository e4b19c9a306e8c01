/**
 * Secrets (upstream pkg/registry/core/secret, pkg/apis/core/v1/defaults.go and conversion.go, pkg/apis/core/validation ValidateSecret and
 * ValidateSecretUpdate). No error shows a value.
 */
import { base64Length, decodeBase64, encodeBase64 } from "../../../core/encoding/base64";
import { FIELD_IMMUTABLE, invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Secret } from "../../meta/kubernetes";
import { syntaxError } from "../../schema/json/json-syntax";
import { setMember } from "../../schema/json/json-value";
import { BASE_STRATEGY } from "../base-strategy";
import { validateImmutable, validateKeys, validateTotal } from "../keyed-data";
import type { Change, Strategy } from "../resource";

type Data = Readonly<Record<string, string>>;

const SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name";
const REDACTED = "<secret contents redacted>";

/** stringData is written into data, over what stands there. */
function defaults(secret: Secret): void {
  secret.type ||= "Opaque";
  const { stringData } = secret;
  if (!stringData) return;
  const data = (secret.data ??= {});
  for (const key in stringData) setMember(data, key, encodeBase64(stringData[key] ?? ""));
  delete secret.stringData;
}

function dataField(key: string): string {
  return `data[${key}]`;
}

/** What each type demands besides good keys; other types demand nothing. */
const RULES: ReadonlyMap<string, (data: Data, secret: Secret) => FieldError[]> = new Map<
  string,
  (data: Data, secret: Secret) => FieldError[]
>([
  [
    "kubernetes.io/service-account-token",
    (_, { metadata }) => (metadata?.annotations?.[SERVICE_ACCOUNT_NAME] ? [] : [required(`metadata.annotations[${SERVICE_ACCOUNT_NAME}]`)]),
  ],
  ["kubernetes.io/dockercfg", (data) => validateJson(data, ".dockercfg")],
  ["kubernetes.io/dockerconfigjson", (data) => validateJson(data, ".dockerconfigjson")],
  ["kubernetes.io/basic-auth", (data) => ("username" in data || "password" in data ? [] : missing(data, ["username", "password"]))],
  ["kubernetes.io/ssh-auth", (data) => (data["ssh-privatekey"] ? [] : [required(dataField("ssh-privatekey"))])],
  ["kubernetes.io/tls", (data) => missing(data, ["tls.crt", "tls.key"])],
]);

function missing(data: Data, keys: readonly string[]): FieldError[] {
  return keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(dataField(key)));
}

function validateJson(data: Data, key: string): FieldError[] {
  const encoded = data[key];
  if (encoded === undefined) return [required(dataField(key))];
  const problem = whyNoJsonObject(new TextDecoder().decode(decodeBase64(encoded)));
  return problem === undefined ? [] : [invalidValue(dataField(key), REDACTED, problem)];
}

/** Go's error of json.Unmarshal into a map; null is an empty one. */
function whyNoJsonObject(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return syntaxError(text);
  }
  if (typeof value === "object" && !Array.isArray(value)) return undefined;
  const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
}

function validate(secret: Secret): FieldError[] {
  const errors: FieldError[] = [];
  const { data = {}, type = "" } = secret;
  validateTotal("data", validateKeys("data", data, base64Length, errors), errors);
  return errors.concat(RULES.get(type)?.(data, secret) ?? []);
}

function validateUpdate(change: Change<Secret>): FieldError[] {
  const { after, before } = change;
  const typeErrors = after.type === before.type ? [] : [invalidValue("type", after.type ?? "", FIELD_IMMUTABLE)];
  return typeErrors.concat(validateImmutable(change, ["data"]));
}

export const secretStrategy: Strategy<Secret> = { ...BASE_STRATEGY, defaults, validate, validateUpdate };
