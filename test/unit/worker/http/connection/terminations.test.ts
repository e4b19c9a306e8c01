import { describe, expect, it } from "vitest";
import { metricsText } from "../../../../../src/core/telemetry/metrics";
import { TERMINATIONS_CLUSTERS_MAX } from "../../../../../src/worker/http/limits";
import type { CountedRequest } from "../../../../../src/worker/http/negotiate/request-labels";
import { Terminations } from "../../../../../src/worker/http/connection/terminations";

const REFUSED = { status: 429, headers: new Headers({ "Retry-After": "1" }) };
const LATE = { status: 504, headers: new Headers() };

function asked(overrides: Partial<CountedRequest> = {}): CountedRequest {
  const service = { group: "", version: "v1", resource: "services", subresource: "", namespace: "default", name: "" };
  return { verb: "create", ...service, headers: new Headers(), ...overrides };
}

function linesOf(terminations: Terminations, cluster = "blue"): string[] {
  return metricsText([terminations.family(cluster)])
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

describe("Terminations", () => {
  const apply = new Headers({ "Content-Type": "application/apply-patch+yaml" });
  it.each<[Partial<CountedRequest>, string]>([
    [{}, 'verb="POST",group="",version="v1",resource="services",subresource="",scope="resource"'],
    [{ verb: "get", name: "a" }, 'verb="GET",group="",version="v1",resource="services",subresource="",scope="resource"'],
    [{ verb: "list" }, 'verb="LIST",group="",version="v1",resource="services",subresource="",scope="namespace"'],
    [{ verb: "list", namespace: "" }, 'verb="LIST",group="",version="v1",resource="services",subresource="",scope="cluster"'],
    [{ verb: "deletecollection" }, 'verb="DELETE",group="",version="v1",resource="services",subresource="",scope="namespace"'],
    [
      { verb: "update", name: "a", subresource: "status" },
      'verb="PUT",group="",version="v1",resource="services",subresource="status",scope="resource"',
    ],
    [{ verb: "patch", name: "a" }, 'verb="PATCH",group="",version="v1",resource="services",subresource="",scope="resource"'],
    [
      { verb: "patch", name: "a", headers: apply },
      'verb="APPLY",group="",version="v1",resource="services",subresource="",scope="resource"',
    ],
    [
      { group: "networking.k8s.io", version: "v1beta1", resource: "ipaddresses", namespace: "" },
      'verb="POST",group="networking.k8s.io",version="v1beta1",resource="ipaddresses",subresource="",scope="resource"',
    ],
  ])("%j: counted under upstream's labels", (overrides, labels) => {
    const terminations = new Terminations();
    for (let i = 0; i < 3; i++) terminations.note("blue", asked(overrides), REFUSED);
    terminations.note("blue", asked(overrides), LATE);
    const line = (code: number, value: number) =>
      `apiserver_request_terminations_total{${labels},component="apiserver",code="${code}"} ${value}`;
    expect(linesOf(terminations)).toEqual([line(429, 3), line(504, 1)]);
    expect(linesOf(terminations, "green")).toEqual([]);
  });

  it("other answers, and a 504 with Retry-After (a future revision): not counted", () => {
    const terminations = new Terminations();
    for (const status of [200, 201, 404, 409, 422, 500, 503]) terminations.note("blue", asked(), { status, headers: new Headers() });
    terminations.note("blue", asked({ verb: "list" }), { status: 504, headers: new Headers({ "Retry-After": "1" }) });
    expect(linesOf(terminations)).toEqual([]);
  });

  it("more clusters than the limit: counting starts over", () => {
    const terminations = new Terminations();
    for (let i = 0; i <= TERMINATIONS_CLUSTERS_MAX; i++) terminations.note(`c-${i}`, asked(), REFUSED);
    expect(linesOf(terminations, "c-0")).toEqual([]);
    expect(linesOf(terminations, `c-${TERMINATIONS_CLUSTERS_MAX}`)).toHaveLength(1);
  });
});
