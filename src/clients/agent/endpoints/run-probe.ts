/** One probe, as the kubelet makes it (upstream pkg/probe/http and pkg/probe/tcp). */
import { errorOf } from "../../../api/client/follow-collection";
import type { ElectorClock } from "../../elector/term";
import type { ProbeTarget } from "./endpoint-entry";
import type { ProbePorts } from "./machine-ports";

/** Requests of one probe, with the first one. */
const REQUESTS_MAX = 10;
/** The codes whose Location means something. */
export const REDIRECTS = [301, 302, 303, 307, 308];
const HEADERS = { "User-Agent": "kube-probe/1.36", Accept: "*/*" };

export type ProbeResult =
  /** `warning`: what a kubelet reports as the event ProbeWarning */
  { readonly isSuccess: true; readonly warning?: string } | { readonly isSuccess: false; readonly why: string };

/**
 * Never rejects.
 *
 * @param address of the node; for targets without a host
 * @param timeoutMs of all requests together
 */
export async function runProbe(
  ports: ProbePorts & { readonly clock: Pick<ElectorClock, "steady"> },
  target: ProbeTarget,
  address: string,
  timeoutMs: number,
): Promise<ProbeResult> {
  const host = target.host ?? address;
  try {
    if (target.kind === "http") return await probeHttp(ports, urlOf(target, host), timeoutMs);
    await ports.tcpConnect(host, target.port, timeoutMs);
    return { isSuccess: true };
  } catch (error) {
    return { isSuccess: false, why: errorOf(error).message };
  }
}

/** Redirects are followed on the same host. One to another host is a success that nobody has tried: the host's own process answers. */
async function probeHttp(
  { httpGet, clock }: Pick<ProbePorts, "httpGet"> & { readonly clock: Pick<ElectorClock, "steady"> },
  first: string,
  timeoutMs: number,
): Promise<ProbeResult> {
  const end = clock.steady() + timeoutMs;
  let url = first;
  for (let request = 1; ; request++) {
    const { status, redirect } = await httpGet(url, HEADERS, Math.max(1, Math.ceil(end - clock.steady())));
    if (redirect && REDIRECTS.includes(status) && !redirect.leavesHost) {
      if (request === REQUESTS_MAX) return { isSuccess: false, why: `stopped after ${REQUESTS_MAX} redirects` };
      ({ url } = redirect);
      continue;
    }
    if (status >= 200 && status < 300) return { isSuccess: true };
    if (status >= 300 && status < 400) return { isSuccess: true, warning: `Probe terminated redirects, status code ${status}` };
    return { isSuccess: false, why: `HTTP probe failed with statuscode: ${status}` };
  }
}

function urlOf({ scheme, port, path }: ProbeTarget & { kind: "http" }, host: string): string {
  return `${scheme.toLowerCase()}://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}
