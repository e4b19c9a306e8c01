/** Objects die at each await of what takes a Service away or gives it a node port, and of IPAddresses that clients make and delete. */
import { GIVING_BACK, service, servingBothFamilies } from "../../support/objects/address-paths";
import type { ObjectCluster } from "../../support/objects/object-cluster";
import { createAddress } from "../../support/objects/range-requests";
import { DELETE } from "../../support/worlds/store-world";
import { describeDeaths } from "../../support/objects/write-path";

const ADDRESS = "10.96.0.99";
const addAddress = (cluster: ObjectCluster) => cluster.ipAddresses.write(createAddress(ADDRESS));

async function hasAddress(cluster: ObjectCluster): Promise<boolean> {
  const { ipAddresses } = await cluster.stored();
  return ipAddresses.some(({ metadata }) => metadata?.name === ADDRESS);
}

servingBothFamilies();
describeDeaths([
  {
    name: "delete a Service of two families",
    given: (cluster) => cluster.create("web", { ipFamilyPolicy: "RequireDualStack" }),
    ask: (cluster) => cluster.remove("web"),
    done: async (cluster) => (await service(cluster)) === undefined,
    awaits: GIVING_BACK,
  },
  {
    name: "give a Service a node port",
    given: (cluster) => cluster.create("web"),
    ask: (cluster) => cluster.patch("web", { spec: { type: "NodePort" } }),
    done: async (cluster) => (await service(cluster))?.spec?.type === "NodePort" && (await cluster.nodePortRows()).length === 1,
    awaits: ["ServicesStore.write", "ServicesStore disk"],
  },
  {
    name: "create an IPAddress",
    ask: addAddress,
    done: hasAddress,
    awaits: ["IPAddressesStore.write", "ServiceCIDR.allocate", "IPAddressesStore disk"],
  },
  {
    name: "delete an IPAddress",
    given: addAddress,
    ask: (cluster) => cluster.ipAddresses.write({ verb: "delete", key: { namespace: "", name: ADDRESS }, options: DELETE }),
    done: async (cluster) => !(await hasAddress(cluster)),
    awaits: ["IPAddressesStore.write", "ServiceCIDR.release", "IPAddressesStore disk"],
  },
]);
