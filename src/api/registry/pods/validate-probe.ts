/** Validation of probes and lifecycle hooks (upstream validateProbe, validateHandler, validateLifecycle). */
import type { Int64 } from "../../../core/encoding/exact-json";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { Container, Probe } from "../../meta/kubernetes";
import { validatePortOrName } from "../port-rules";

type Lifecycle = NonNullable<Container["lifecycle"]>;
type ProbeHandler = NonNullable<Lifecycle["preStop"]> & Pick<Probe, "grpc">;

const KINDS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;
const COUNTS = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] as const;
const SCHEMES = ["HTTP", "HTTPS"];
const HEADER = /^[-A-Za-z0-9]+$/;
const HEADER_FORM =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

/** Appends the errors of a probe; `grace` is the grace period of the Pod in seconds. */
export function validateProbe(
  kind: "livenessProbe" | "readinessProbe" | "startupProbe",
  probe: Probe | undefined,
  field: string,
  grace: Int64,
  errors: FieldError[],
): void {
  if (!probe) return;
  validateHandler(probe, field, grace, errors);
  for (const count of COUNTS) {
    const value = probe[count] ?? 0;
    if (value < 0) errors.push(invalidValue(`${field}.${count}`, value, "must be greater than or equal to 0"));
  }
  const own = probe.terminationGracePeriodSeconds;
  if (own !== undefined && own <= 0) errors.push(invalidValue(`${field}.terminationGracePeriodSeconds`, own, "must be greater than 0"));
  if (kind === "readinessProbe") {
    if (own !== undefined) errors.push(invalidValue(`${field}.terminationGracePeriodSeconds`, own, "must not be set for readinessProbes"));
  } else if (probe.successThreshold !== 1) errors.push(invalidValue(`${field}.successThreshold`, probe.successThreshold, "must be 1"));
}

export function validateLifecycle(lifecycle: Lifecycle | undefined, field: string, grace: Int64, errors: FieldError[]): void {
  for (const hook of ["postStart", "preStop"] as const) {
    const handler = lifecycle?.[hook];
    if (handler) validateHandler(handler, `${field}.${hook}`, grace, errors);
  }
}

/** Exactly one way to look or act. */
function validateHandler(handler: ProbeHandler, field: string, grace: Int64, errors: FieldError[]): void {
  const given = KINDS.filter((kind) => handler[kind]);
  if (given.length === 0) errors.push(required(field, "must specify a handler type"));
  given.forEach((kind, i) => {
    const at = `${field}.${kind}`;
    if (i > 0) errors.push(forbiddenField(at, "may not specify more than 1 handler type"));
    else validateAction(kind, handler, at, grace, errors);
  });
}

function validateAction(kind: (typeof KINDS)[number], handler: ProbeHandler, field: string, grace: Int64, errors: FieldError[]): void {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (kind === "exec" && !exec?.command?.length) errors.push(required(`${field}.command`));
  if (kind === "httpGet" && httpGet) validateHttp(httpGet, field, errors);
  if (kind === "tcpSocket") validatePortOrName(tcpSocket?.port ?? 0, `${field}.port`, errors);
  if (kind === "grpc") validatePortOrName(grpc?.port ?? 0, `${field}.port`, errors);
  const seconds = sleep?.seconds ?? 0;
  if (kind === "sleep" && (seconds < 0 || seconds > grace)) {
    errors.push(invalidValue(field, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`));
  }
}

function validateHttp({ path, port, scheme, httpHeaders = [] }: NonNullable<Probe["httpGet"]>, field: string, errors: FieldError[]): void {
  if (!path) errors.push(required(`${field}.path`));
  validatePortOrName(port ?? 0, `${field}.port`, errors);
  if (!SCHEMES.includes(scheme ?? "")) errors.push(notSupported(`${field}.scheme`, scheme ?? "", SCHEMES));
  for (const { name } of httpHeaders) if (!HEADER.test(name)) errors.push(invalidValue(`${field}.httpHeaders`, name, HEADER_FORM));
}
