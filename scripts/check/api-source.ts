/** A cluster as a check reads it from outside: over the Kubernetes API, and of Servicenet what its owners of addresses say besides. */
import type { CheckSource } from "../../src/check/check-cluster";
import { observedIPAddress, observedService } from "../../src/check/observed";
import { type OwnerPage, type OwnersView, readOwners } from "../../src/check/read-owners";
import type { IPAddress, Service, ServiceCIDR } from "../../src/meta/kubernetes";
import type { RangesView } from "../../src/ranges/service-ranges";
import { type Answer, type Api, collectionPath } from "../cluster/api";
import { UserError } from "../serve/user-error";

const OWNERS_PATH = "/check/owners";

export function apiSource(api: Api): CheckSource {
  return {
    services: async () => {
      const list = await api.listWhole(collectionPath("Service"), (object) => observedService(object as Service));
      if (!list) throw new UserError(`${api.url} serves no Services: it is no Kubernetes API server`);
      return list.items;
    },
    ipAddresses: async () => (await api.listWhole(collectionPath("IPAddress"), (object) => observedIPAddress(object as IPAddress)))?.items,
    serviceCIDRs: () => api.listIfServed<ServiceCIDR>(collectionPath("ServiceCIDR")),
    ranges: async () => {
      const { code, object } = await api.get("/ranges");
      if (code !== 200) return undefined;
      const { IPv4, IPv6 } = (object as unknown as RangesView).ready;
      return [...IPv4.prefixes, ...IPv6.prefixes];
    },
    owners: async () => {
      const view = await api.get(OWNERS_PATH);
      // Another server knows no such path, or lets nobody see it.
      if (view.code === 404 || view.code === 403) return undefined;
      return readOwners({
        view: () => Promise.resolve(valueOf<OwnersView>(view)),
        page: async (uid, after) => valueOf<OwnerPage>(await api.get(`${OWNERS_PATH}/${uid}?after=${after}`)),
      });
    },
  };
}

function valueOf<T>({ code, message, object }: Answer): T {
  if (code !== 200) throw new UserError(`${OWNERS_PATH} answers ${code}: ${message}`);
  return object as unknown as T;
}
