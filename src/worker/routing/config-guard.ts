/** Invalid variables fail every request with one clear Status, and are logged once per isolate with the variable's name. */
import type { Result } from "../../core/base/result";
import { type Config, parseConfig } from "../../core/config/config";
import { internalError, type Status } from "../../api/meta/status";
import { accessProblems } from "../../access/settings";
import type { Env } from "../../../durable-objects/env";
import { log } from "../http/log";

const parsed = new WeakMap<Env, Result<Config, Status>>();

/** The configuration of this isolate; parsed once. */
export function configOf(env: Env): Result<Config, Status> {
  const known = parsed.get(env);
  if (known) return known;
  const fresh = parse(env);
  parsed.set(env, fresh);
  return fresh;
}

function parse(env: Env): Result<Config, Status> {
  const config = parseConfig({
    SERVICE_CLUSTER_IP_RANGE: env.SERVICE_CLUSTER_IP_RANGE,
    ADVERTISE_ADDRESSES: env.ADVERTISE_ADDRESSES,
    FEATURE_GATES: env.FEATURE_GATES,
    APISERVER_LEASE_DURATION_SECONDS: env.APISERVER_LEASE_DURATION_SECONDS,
    APISERVER_LEASE_RENEW_SECONDS: env.APISERVER_LEASE_RENEW_SECONDS,
    APISERVER_LEASE_COLLECT_SECONDS: env.APISERVER_LEASE_COLLECT_SECONDS,
    NODE_MONITOR_GRACE_PERIOD_SECONDS: env.NODE_MONITOR_GRACE_PERIOD_SECONDS,
    NODE_MONITOR_PERIOD_SECONDS: env.NODE_MONITOR_PERIOD_SECONDS,
    NODE_STARTUP_GRACE_PERIOD_SECONDS: env.NODE_STARTUP_GRACE_PERIOD_SECONDS,
    MAX_ENDPOINTS_PER_SLICE: env.MAX_ENDPOINTS_PER_SLICE,
    ENDPOINTSLICE_UPDATES_BATCH_PERIOD: env.ENDPOINTSLICE_UPDATES_BATCH_PERIOD,
    CONTROLLERS: env.CONTROLLERS,
    DRAINING_TAINTS: env.DRAINING_TAINTS,
    PROXY_SYNC_PERIOD_SECONDS: env.PROXY_SYNC_PERIOD_SECONDS,
    MAX_REQUESTS_INFLIGHT: env.MAX_REQUESTS_INFLIGHT,
    MAX_MUTATING_REQUESTS_INFLIGHT: env.MAX_MUTATING_REQUESTS_INFLIGHT,
    AUTHORIZATION_MODE: env.AUTHORIZATION_MODE,
    ANONYMOUS_AUTH: env.ANONYMOUS_AUTH,
    ANONYMOUS_NODE_HEALTH: env.ANONYMOUS_NODE_HEALTH,
    STATIC_BAND_GUARD: env.STATIC_BAND_GUARD,
    REQUEST_QUEUE_SECONDS: env.REQUEST_QUEUE_SECONDS,
    FAIR_REQUESTS_MIN: env.FAIR_REQUESTS_MIN,
    MAX_WATCHES_PER_USER: env.MAX_WATCHES_PER_USER,
    ROOT_CA: env.ROOT_CA,
    LOOPBACK_ONLY: env.LOOPBACK_ONLY,
    ALLOWED_HOSTS: env.ALLOWED_HOSTS,
  });
  const ofAccess = accessProblems({
    ADMIN_TOKEN_HASHES: env.ADMIN_TOKEN_HASHES,
    AUTHENTICATION_CONFIG: env.AUTHENTICATION_CONFIG,
    AUDIT_POLICY: env.AUDIT_POLICY,
  });
  if (config.ok && ofAccess.length === 0) return config;
  const problems = [...(config.ok ? [] : config.error), ...ofAccess].join("; ");
  log("error", "invalid configuration", { problems });
  return { ok: false, error: internalError(`invalid configuration: ${problems}`) };
}
