import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { configOf } from "../../../../src/worker/routing/config-guard";

/** Variables that can be wrong, and a value that is. */
const BROKEN: Partial<Env> = {
  LOG_LEVEL: "x",
  SERVICE_CLUSTER_IP_RANGE: "x",
  ADVERTISE_ADDRESSES: "x",
  FEATURE_GATES: "x",
  APISERVER_LEASE_DURATION_SECONDS: "x",
  APISERVER_LEASE_RENEW_SECONDS: "x",
  APISERVER_LEASE_COLLECT_SECONDS: "x",
  NODE_MONITOR_GRACE_PERIOD_SECONDS: "x",
  NODE_MONITOR_PERIOD_SECONDS: "x",
  NODE_STARTUP_GRACE_PERIOD_SECONDS: "x",
  TERMINATED_POD_GC_THRESHOLD: "x",
  MAX_ENDPOINTS_PER_SLICE: "x",
  ENDPOINTSLICE_UPDATES_BATCH_PERIOD: "x",
  CONTROLLERS: "x",
  DRAINING_TAINTS: "x x",
  PROXY_SYNC_PERIOD_SECONDS: "x",
  MAX_REQUESTS_INFLIGHT: "x",
  MAX_MUTATING_REQUESTS_INFLIGHT: "x",
  AUTHORIZATION_MODE: "x",
  ADMIN_TOKEN_HASHES: "x",
  AUTHENTICATION_CONFIG: "x",
  ANONYMOUS_AUTH: "x",
  AUDIT_POLICY: "x",
  ANONYMOUS_NODE_HEALTH: "x",
  STATIC_BAND_GUARD: "x",
  REQUEST_QUEUE_SECONDS: "x",
  FAIR_REQUESTS_MIN: "x",
  MAX_WATCHES_PER_USER: "x",
  MAX_STREAMED_LISTS: "x",
};

describe("a broken variable", () => {
  it.each(Object.entries(BROKEN))("%s=%s: 500 with its name, logged once", (name, value) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const env = { [name]: value } as unknown as Env;
    const [first, second] = [configOf(env), configOf(env)];
    expect(first).toBe(second);
    expect(first.ok ? undefined : [first.error.code, first.error.message]).toEqual([
      500,
      expect.stringMatching(new RegExp(`invalid configuration: (?:.*; )?${name}`)),
    ]);
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });
});
