/**
 * A TokenRequest's spec: its defaults, its validation, and the bound of its lifetime. Source: upstream pkg/apis/authentication/v1/defaults.go,
 * pkg/apis/authentication/validation, pkg/registry/core/serviceaccount/storage/token.go.
 */
import { type FieldError, invalidValue } from "../../api/meta/field-errors";
import { err, ok, type Result } from "../../core/base/result";
import { LIFETIME_MAX_SECONDS } from "./credential-limits";
import { API_AUDIENCE } from "./service-account-claims";

/** What a client may leave out. */
export interface AskedTokenSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
}

export interface TokenSpec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** text of the header `Warning` */
  readonly warning?: string;
}

const SECONDS_DEFAULT = 3_600;
const SECONDS_MIN = 600;
const SECONDS_MAX = 2 ** 32;
const SECONDS_FIELD = "spec.expirationSeconds";

/** The errors are those of 422 `TokenRequest.authentication.k8s.io "" is invalid`. */
export function tokenSpec({ audiences, expirationSeconds }: AskedTokenSpec): Result<TokenSpec, FieldError[]> {
  const asked = expirationSeconds ?? SECONDS_DEFAULT;
  if (asked < SECONDS_MIN) return err([invalidValue(SECONDS_FIELD, asked, "may not specify a duration less than 10 minutes")]);
  if (asked > SECONDS_MAX) return err([invalidValue(SECONDS_FIELD, asked, "may not specify a duration larger than 2^32 seconds")]);
  const spec = { audiences: audiences && audiences.length > 0 ? audiences : [API_AUDIENCE], expirationSeconds: asked };
  if (asked <= LIFETIME_MAX_SECONDS) return ok(spec);
  const warning = `requested expiration of ${asked} seconds shortened to ${LIFETIME_MAX_SECONDS} seconds`;
  return ok({ ...spec, expirationSeconds: LIFETIME_MAX_SECONDS, warning });
}

/** A body may name the account that its path names. */
export function tokenRequestNameErrors(
  { name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string },
  of: { readonly name: string; readonly namespace: string },
): FieldError[] {
  if (name !== "" && name !== of.name) return [invalidValue("metadata.name", name, "must match the service account name if specified")];
  if (namespace !== "" && namespace !== of.namespace)
    return [invalidValue("metadata.namespace", namespace, "must match the service account namespace if specified")];
  return [];
}

/** The text of 409 for an object that is another one of the name. */
export function otherBoundUid(uid: string): string {
  return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
}

/** The text of 400 for a Pod of another account. */
export function otherPodAccount(serviceAccount: string): string {
  return `cannot bind token for serviceaccount ${JSON.stringify(serviceAccount)} to pod running with different serviceaccount name.`;
}
