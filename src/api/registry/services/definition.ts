/**
 * core/v1 Service. The strategy brings clusterIP and clusterIPs together and judges a write before any address is asked for. Then `planClusterIPs`
 * (addresses/clusterip/address-plan.ts) settles the families for good and says which addresses the write takes. Upstream does it the other way round,
 * so there an allocation may hide a field error. Here a request that cannot succeed takes nothing.
 */
import type { FieldError } from "../../meta/field-errors";
import type { Service } from "../../meta/kubernetes";
import { validateDNS1123Label } from "../../meta/names";
import type { Family } from "../../../core/net/family";
import { ServiceSchema } from "../../schema/kinds/core-services";
import type { Change, ResourceDefinition, Strategy, StrategyContext } from "../resource";
import { keepMembers } from "../base-strategy";
import { serviceCells, serviceColumns } from "./columns";
import { applyDefaults, applyReadDefaults, dropUnusedTrafficPolicy, withReadDefaults } from "./defaults";
import { initFamilies, validateClusterIPFields } from "./families";
import { normalizeClusterIPs, patchAllocatedValues } from "./normalize";
import { specOf } from "./predicates";
import { validateService } from "./validate";
import { validateLoadBalancerStatus } from "./validate-addresses";
import { validateServiceUpdate } from "./validate-update";
import { statusWarningsFor, warningsFor } from "./warnings";
import { dropTypeDependentFields } from "./type-dependent-fields";

/** Upstream pkg/registry/core/service/strategy.go, with the parts of storage.go that need no allocator. */
const serviceStrategy: Strategy<Service> = {
  // Kubernetes 1.36 takes DNS-1123 labels (gate RelaxedServiceNameValidation); older versions take DNS-1035
  validateName: validateDNS1123Label,
  defaults: applyDefaults,
  prepareForCreate(object: Service): void {
    object.status = { loadBalancer: {} };
    normalizeClusterIPs({ after: object });
    dropUnusedTrafficPolicy(object);
  },
  validate(object: Service, _context: StrategyContext, before?: Service): FieldError[] {
    return validateService(object, before);
  },
  prepareForUpdate({ after, before }: Change<Service>, context: StrategyContext): void {
    after.status = before.status ?? { loadBalancer: {} };
    const old = withReadDefaults(before, context.serviceFamilies);
    patchAllocatedValues({ after, before: old });
    normalizeClusterIPs({ after, before: old });
    dropTypeDependentFields({ after, before: old });
    dropUnusedTrafficPolicy(after);
  },
  validateUpdate({ after, before }: Change<Service>, context: StrategyContext): FieldError[] {
    const old = withReadDefaults(before, context.serviceFamilies);
    // `validate` reports these errors; with them the further checks would mislead
    if (validateClusterIPFields(specOf(after), specOf(old)).length > 0) return [];
    const settled: Service = { ...after, spec: { ...after.spec } };
    const errors = initFamilies({ after: settled, before: old }, context.serviceFamilies);
    return errors.length > 0 ? errors : validateServiceUpdate({ after: settled, before: old });
  },
  prepareForStatusUpdate(change: Change<Service>): void {
    keepMembers(change, (key) => key !== "metadata" && key !== "status");
    const status = (change.after.status ??= {});
    status.loadBalancer ??= {};
  },
  validateStatusUpdate: validateLoadBalancerStatus,
  statusWarnings: statusWarningsFor,
  warnings: warningsFor,
  /** without `families` (primary first) a headless Service of an old version counts as IPv4 first */
  defaultsOnRead(object: Service, families: readonly Family[] = ["IPv4"]): void {
    applyReadDefaults(object, families);
  },
};

export const servicesDefinition: ResourceDefinition<Service> = {
  group: "",
  versions: ["v1"],
  resource: "services",
  singular: "service",
  kind: "Service",
  shortNames: ["svc"],
  categories: ["all"],
  namespaced: true,
  verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
  subresources: ["status"],
  schema: ServiceSchema,
  columns: serviceColumns,
  cells: serviceCells,
  selectableFields(object) {
    const spec = specOf(object);
    return { "spec.clusterIP": spec.clusterIP ?? "", "spec.type": spec.type ?? "" };
  },
  fieldLabels: ["spec.clusterIP", "spec.type"],
  unknownFieldLabel: (label) => `field label not supported: ${label}`,
  strategy: serviceStrategy,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: true,
  returnsDeletedObject: true,
  generation: "none",
  generatesNameSuffix: true,
  initialObjects: [],
};
