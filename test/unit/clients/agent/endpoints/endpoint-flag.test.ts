import { describe, expect, it } from "vitest";
import { readEndpointFile } from "../../../../../src/clients/agent/endpoints/endpoint-file";
import { readEndpointFlag } from "../../../../../src/clients/agent/endpoints/endpoint-flag";

describe("--endpoint", () => {
  it.each<[flag: string, yaml: string]>([
    ["web=8080", "{name: web, port: 8080}"],
    ["dns=53/UDP", "{name: dns, port: 53, protocol: UDP}"],
    ["dns=53/udp", "{name: dns, port: 53, protocol: UDP}"],
    ["web=80,labels=app=web", "{name: web, port: 80, labels: {app: web}}"],
    ["web=80,labels=app=web;tier=a,labels=x=", `{name: web, port: 80, labels: {app: web, tier: a, x: ""}}`],
    ["web=80,labels=example.com/app=web", "{name: web, port: 80, labels: {example.com/app: web}}"],
    ["web=80,namespace=shop,drainSeconds=5", "{name: web, port: 80, namespace: shop, drainSeconds: 5}"],
    ["web=80,check=none", "{name: web, port: 80}"],
    ["web=80,check=tcp", "{name: web, port: 80, check: {tcp: }}"],
    ["web=80,check=tcp:81", "{name: web, port: 80, check: {tcp: {port: 81}}}"],
    ["web=80,check=http:/healthz?a=b", "{name: web, port: 80, check: {http: {path: '/healthz?a=b'}}}"],
    ["web=80,check=https:81/", "{name: web, port: 80, check: {http: {path: /, port: 81, scheme: HTTPS}}}"],
    [
      "web=80,check=tcp,periodSeconds=2,failureThreshold=1,initialDelaySeconds=3",
      "{name: web, port: 80, check: {tcp: , periodSeconds: 2, failureThreshold: 1, initialDelaySeconds: 3}}",
    ],
  ])("%s: is as in a file", (flag, yaml) => {
    const file = readEndpointFile(`[${yaml}]`);
    expect(file.ok).toBe(true);
    const read = readEndpointFlag(flag);
    expect(read.ok ? [read.value] : read.error).toEqual(file.ok ? file.value : file.error);
  });

  it.each<[flag: string, error: string]>([
    ["", "must begin with NAME=PORT"],
    ["web", "must begin with NAME=PORT"],
    ["web=", "must begin with NAME=PORT"],
    ["web=http", "port: Invalid value"],
    ["web=70000", "port: Invalid value: 70000"],
    ["web=80/HTTP", `protocol: Unsupported value: "HTTP"`],
    ["Web=80", `name: Invalid value: "Web"`],
    ["web=80,port=1", "port=1: must be one of labels=, "],
    ["web=80,labels", "labels: must be one of"],
    ["web=80,labels=app", "labels=app: must be KEY=VALUE"],
    ["web=80,labels=a=1;a=2", "label a stands twice"],
    ["web=80,labels=a=b c", `labels: Invalid value: "b c"`],
    ["web=80,check=http", "check=http: must be http:[PORT]/PATH"],
    ["web=80,check=http:81", "check=http:81: must be"],
    ["web=80,check=tcp:", "check=tcp:: must be"],
    ["web=80,check=tcp:81/x", "check=tcp:81/x: must be"],
    ["web=80,check=exec", "check=exec: must be"],
    ["web=80,check=tcp,check=none", "check stands twice"],
    ["web=80,periodSeconds=2", "periodSeconds stands without a check"],
    ["web=80,check=none,periodSeconds=2", "periodSeconds stands without a check"],
    ["web=80,check=tcp,periodSeconds=x", `check.periodSeconds: Invalid value: "x"`],
    ["web=80,drainSeconds=-1", `drainSeconds: Invalid value: "-1"`],
    ["dns=53/UDP,check=tcp", "check.tcp.port: Required value"],
  ])("%s: is refused", (flag, error) => {
    const read = readEndpointFlag(flag);
    expect(read.ok ? "" : read.error).toContain(error);
  });
});
