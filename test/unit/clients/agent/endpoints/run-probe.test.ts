import { describe, expect, it } from "vitest";
import type { ProbeTarget } from "../../../../../src/clients/agent/endpoints/endpoint-entry";
import type { HttpAnswer } from "../../../../../src/clients/agent/endpoints/machine-ports";
import { type ProbeResult, runProbe } from "../../../../../src/clients/agent/endpoints/run-probe";

const HTTP: ProbeTarget = { kind: "http", scheme: "HTTP", port: 8080, path: "/healthz" };
const TERMINATED = (status: number): ProbeResult => ({ isSuccess: true, warning: `Probe terminated redirects, status code ${status}` });

/** A probe of answers, the last one again and again; each takes `eachMs`. What was asked, too. */
async function probe(target: ProbeTarget, answers: (HttpAnswer | Error)[], { address = "10.0.0.1", eachMs = 0 } = {}) {
  const asked: string[] = [];
  let now = 0;
  const answer = (what: string): Promise<HttpAnswer> => {
    const next = answers[Math.min(asked.length, answers.length - 1)] ?? new Error("refused");
    asked.push(what);
    now += eachMs;
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const result = await runProbe(
    {
      clock: { steady: () => now },
      httpGet: (url, headers, timeoutMs) => answer(`${url} ${timeoutMs} ${headers["User-Agent"] ?? ""}`),
      tcpConnect: async (host, port, timeoutMs) => void (await answer(`${host} ${port} ${timeoutMs}`)),
    },
    target,
    address,
    1_000,
  );
  return { result, asked };
}

describe("probe", () => {
  it.each<[status: number, result: ProbeResult]>([
    [199, { isSuccess: false, why: "HTTP probe failed with statuscode: 199" }],
    [200, { isSuccess: true }],
    [299, { isSuccess: true }],
    [300, TERMINATED(300)],
    [301, TERMINATED(301)],
    [304, TERMINATED(304)],
    [399, TERMINATED(399)],
    [400, { isSuccess: false, why: "HTTP probe failed with statuscode: 400" }],
    [503, { isSuccess: false, why: "HTTP probe failed with statuscode: 503" }],
  ])("HTTP status %i without a Location: as the kubelet judges", async (status, result) => {
    expect(await probe(HTTP, [{ status }])).toEqual({ result, asked: ["http://10.0.0.1:8080/healthz 1000 kube-probe/1.36"] });
  });

  it("nobody answers: failure", async () => {
    expect((await probe(HTTP, [new Error("ECONNREFUSED")])).result).toEqual({ isSuccess: false, why: "ECONNREFUSED" });
  });

  it("HTTPS, an IPv6 address: the URL has brackets", async () => {
    const { asked } = await probe({ ...HTTP, scheme: "HTTPS" }, [{ status: 200 }], { address: "2001:db8::1" });
    expect(asked[0]).toContain("https://[2001:db8::1]:8080/healthz ");
  });

  it("a host of its own: asked in place of the node", async () => {
    const { asked } = await probe({ ...HTTP, host: "localhost" }, [{ status: 200 }]);
    expect(asked[0]).toContain("http://localhost:8080/healthz ");
  });

  it.each([301, 302, 303, 307, 308])("%i on the same host: followed, in what is left of the time", async (status) => {
    const redirect = { url: "http://10.0.0.1:9090/b", leavesHost: false };
    const { result, asked } = await probe(HTTP, [{ status, redirect }, { status: 204 }], { eachMs: 400.5 });
    expect(result).toEqual({ isSuccess: true });
    expect(asked[1]).toContain("http://10.0.0.1:9090/b 600 ");
  });

  it("300 with a Location: not followed", async () => {
    const { result, asked } = await probe(HTTP, [{ status: 300, redirect: { url: "http://10.0.0.1:8080/b", leavesHost: false } }]);
    expect(result).toEqual(TERMINATED(300));
    expect(asked).toHaveLength(1);
  });

  it("a redirect to another host: success with a warning", async () => {
    const { result, asked } = await probe(HTTP, [{ status: 302, redirect: { url: "http://h/", leavesHost: true } }]);
    expect(result).toEqual(TERMINATED(302));
    expect(asked).toHaveLength(1);
  });

  it("a redirect to itself: failure after ten requests", async () => {
    const { result, asked } = await probe(HTTP, [{ status: 302, redirect: { url: "http://10.0.0.1:8080/healthz", leavesHost: false } }]);
    expect(result).toEqual({ isSuccess: false, why: "stopped after 10 redirects" });
    expect(asked).toHaveLength(10);
  });

  it.each<[what: string, answer: HttpAnswer | Error, result: ProbeResult]>([
    ["taken", { status: 0 }, { isSuccess: true }],
    ["refused", new Error("ECONNREFUSED"), { isSuccess: false, why: "ECONNREFUSED" }],
  ])("TCP connection %s", async (_, answer, result) => {
    expect(await probe({ kind: "tcp", port: 53 }, [answer])).toEqual({ result, asked: ["10.0.0.1 53 1000"] });
  });
});
