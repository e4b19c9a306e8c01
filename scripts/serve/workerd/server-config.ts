/** The Worker of a wrangler configuration as workerd serves it: one socket for its clients, one for its scheduled events, its data in a folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerOptions } from "miniflare";
import type { WorkerConfig } from "../worker-config";
import { type ConfigValue, embedded, enumerant } from "./config-text";
import { namespaceExtension, namespaceService, namespaceServices } from "./key-value";
import { schedulerService, schedulerSocket } from "./scheduler";

/** Name of the socket for clients. */
export const CLIENTS = "clients";
/** The entrypoint that takes requests as clients write them. */
const ENTRYPOINT = "direct";
const WORKER = "worker";
const OBJECTS = "objects";
/** What a configuration without a date means to wrangler. */
const OLDEST_DATE = "2000-01-01";
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Folders of the data: those that Miniflare makes. */
export function dataFoldersIn(statePath: string): { objects: string; namespaces: string } {
  return { objects: join(statePath, "do"), namespaces: join(statePath, "kv") };
}

interface Served {
  /** path of the Worker's one module */
  codePath: string;
  statePath: string;
  /** as workerd takes it: host:port */
  address: string;
  /** of the server, PEM; undefined: plain HTTP */
  certificate: CertificateFiles | undefined;
  /** path of the Unix socket for scheduled events */
  schedulerPath: string;
}

export interface CertificateFiles {
  keyPath: string;
  /** the server's own certificate first */
  chainPath: string;
}

/** `worker`: of the configuration, with all variables. */
export function serverConfig({ name, worker }: WorkerConfig, served: Served): ConfigValue {
  const { codePath, statePath, address, certificate, schedulerPath } = served;
  const { bindings = {}, durableObjects, kvNamespaces } = worker as Bound;
  const classes = new Map(Object.values(durableObjects).map((object) => [object.className, object]));
  const folders = dataFoldersIn(statePath);
  const ids = [...new Set(Object.values(kvNamespaces).map(({ id }) => id))];
  // "proxy" passes the request target as it was sent; otherwise every target but a path is an exception of the runtime. There is neither a header for
  // `request.cf` nor a host for Cap'n Proto: a client could write the one and call the Worker past its own checks by the other.
  const http = { style: enumerant("proxy") };
  return {
    services: [
      {
        name: WORKER,
        worker: {
          modules: [{ name: "index.js", esModule: embedded(codePath) }],
          compatibilityDate: worker.compatibilityDate ?? OLDEST_DATE,
          compatibilityFlags: worker.compatibilityFlags ?? [],
          bindings: [
            ...Object.entries(bindings).map(([binding, value]) => ({ name: binding, ...variable(value) })),
            ...Object.entries(durableObjects).map(([binding, { className }]) => ({ name: binding, durableObjectNamespace: className })),
            ...Object.entries(kvNamespaces).map(([binding, { id }]) => ({ name: binding, kvNamespace: namespaceService(id) })),
          ],
          // The keys, and so the names of the files, are those of Miniflare.
          durableObjectNamespaces: [...classes.values()].map(({ className, useSQLite }) => ({
            className,
            uniqueKey: `${name}-${className}`,
            enableSql: useSQLite,
          })),
          durableObjectStorage: { localDisk: OBJECTS },
        },
      },
      { name: OBJECTS, disk: { path: folders.objects, writable: true } },
      // Nodes and their Pods have private addresses.
      {
        name: "internet",
        network: {
          allow: ["public", "private", "240.0.0.0/4"],
          tlsOptions: { trustBrowserCas: true, trustedCertificates: trustedCertificates() },
        },
      },
      ...(ids.length > 0 ? namespaceServices(ids, folders.namespaces) : []),
      schedulerService(WORKER),
    ],
    sockets: [
      {
        name: CLIENTS,
        address,
        service: { name: WORKER, entrypoint: ENTRYPOINT },
        ...(certificate ? { https: { options: http, tlsOptions: { keypair: keypair(certificate) } } } : { http }),
      },
      schedulerSocket(schedulerPath),
    ],
    extensions: ids.length > 0 ? [namespaceExtension()] : [],
  };
}

/** What worker-config.ts makes of a configuration. */
interface Bound {
  bindings?: WorkerOptions["bindings"];
  durableObjects: Readonly<Record<string, { className: string; useSQLite?: boolean }>>;
  kvNamespaces: Readonly<Record<string, { id: string }>>;
}

function variable(value: unknown): { text: string } | { json: string } {
  return typeof value === "string" ? { text: value } : { json: JSON.stringify(value) };
}

function keypair({ keyPath, chainPath }: CertificateFiles): ConfigValue {
  return { privateKey: embedded(keyPath), certificateChain: embedded(chainPath) };
}

/** What workerd trusts besides the authorities of browsers. */
function trustedCertificates(): string[] {
  const { NODE_EXTRA_CA_CERTS: path } = process.env;
  if (path === undefined) return [];
  try {
    return readFileSync(path, "utf8").match(CERTIFICATES) ?? [];
  } catch {
    // Node itself goes on without such a file.
    return [];
  }
}
