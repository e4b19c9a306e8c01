/** The controllers that keep an object in each active namespace: the ServiceAccount `default`, and the certificates of the server's own authority. */
import type { Clock } from "../core/base/ports";
import { fnv1a, FNV_OFFSET } from "../core/encoding/fnv1a";
import type { Config } from "../core/config/config";
import { qualifiedResource } from "../api/meta/status";
import { configMapsDefinition } from "../api/registry/config-maps/definition";
import { namespacesDefinition } from "../api/registry/namespaces/definition";
import type { ResourceDefinition } from "../api/registry/resource";
import { serviceAccountsDefinition } from "../api/registry/service-accounts/definition";
import { Controller, type ControllerPorts, type Pass } from "./frame/controller";
import { madeOnce } from "./frame/made-once";
import { type ControllerEntry, decidesByRoles } from "./controller-table";
import { DEFAULT_SERVICE_ACCOUNT, defaultServiceAccount } from "./every-namespace/default-service-account";
import { everyNamespacePass, type EveryNamespacePorts } from "./every-namespace/every-namespace-pass";
import { ROOT_CERTIFICATE, rootCertificate } from "./every-namespace/root-certificate";
import { hearsNamespaces, hearsWanted } from "./every-namespace/wanted-object";
import { type CalledPeers, gatheredStores } from "./followed/called-store";
import type { RowStorage } from "./followed/row-storage";

export interface EveryNamespaceControllerSetting extends ControllerPorts {
  clock: Clock;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Pick<Config, "rootCertificates">;
  /** makes a stub for one call */
  peers: CalledPeers;
  tables: { rows: RowStorage };
}

type Entry = ControllerEntry<EveryNamespaceControllerSetting, Controller>;

const NAMESPACES = qualifiedResource(namespacesDefinition);
const SERVICE_ACCOUNTS = qualifiedResource(serviceAccountsDefinition);
const CONFIG_MAPS = qualifiedResource(configMapsDefinition);

export const serviceAccountController: Entry = {
  follows: [NAMESPACES, SERVICE_ACCOUNTS],
  filters: { [NAMESPACES]: hearsNamespaces, [SERVICE_ACCOUNTS]: hearsWanted(DEFAULT_SERVICE_ACCOUNT, false) },
  upstream: "serviceaccount-controller",
  runsWith: decidesByRoles,
  make(setting) {
    const ports = portsOf(setting, serviceAccountsDefinition);
    return new Controller(setting, everyNamespacePass(ports, { wanted: defaultServiceAccount, objectsName: SERVICE_ACCOUNTS }));
  },
};

export const rootCertificateController: Entry = {
  follows: [NAMESPACES, CONFIG_MAPS],
  filters: { [NAMESPACES]: hearsNamespaces, [CONFIG_MAPS]: hearsWanted(ROOT_CERTIFICATE, true) },
  upstream: "root-ca-certificate-publisher-controller",
  runsWith: (config) => decidesByRoles(config) && config.rootCertificates !== "",
  make: (setting) =>
    new Controller(
      setting,
      madeOnce(() => publishing(setting)),
    ),
};

function publishing(setting: EveryNamespaceControllerSetting): Pass {
  const { rootCertificates } = setting.config();
  const objectsName = `${CONFIG_MAPS} for ${fnv1a(FNV_OFFSET, rootCertificates).toString(16)}`;
  return everyNamespacePass(portsOf(setting, configMapsDefinition), { wanted: rootCertificate(rootCertificates), objectsName });
}

function portsOf(setting: EveryNamespaceControllerSetting, objects: ResourceDefinition): EveryNamespacePorts {
  const { clock, recorder, tables } = setting;
  const store = gatheredStores(setting);
  return { clock, recorder, storage: tables.rows, namespaces: store(namespacesDefinition), objects: store(objects) };
}
