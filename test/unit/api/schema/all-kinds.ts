/** Every kind that has a schema. */
import { SelfSubjectReviewSchema, TokenRequestSchema, TokenReviewSchema } from "../../../../src/api/schema/kinds/authentication";
import {
  LocalSubjectAccessReviewSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
} from "../../../../src/api/schema/kinds/authorization";
import { LeaseSchema } from "../../../../src/api/schema/kinds/coordination";
import { BindingSchema } from "../../../../src/api/schema/kinds/core-bindings";
import { EndpointsSchema } from "../../../../src/api/schema/kinds/core-endpoints";
import { ConfigMapSchema } from "../../../../src/api/schema/kinds/core-config-maps";
import { CoreEventSchema } from "../../../../src/api/schema/kinds/core-events";
import { NamespaceSchema } from "../../../../src/api/schema/kinds/core-namespaces";
import { NodeSchema } from "../../../../src/api/schema/kinds/core-nodes";
import { PodTemplateSchema } from "../../../../src/api/schema/kinds/core-pod-templates";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { ResourceQuotaSchema } from "../../../../src/api/schema/kinds/core-resource-quotas";
import { SecretSchema } from "../../../../src/api/schema/kinds/core-secrets";
import { ServiceAccountSchema } from "../../../../src/api/schema/kinds/core-service-accounts";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { EndpointSliceSchema } from "../../../../src/api/schema/kinds/discovery";
import { EventsEventSchema } from "../../../../src/api/schema/kinds/events";
import { DeleteOptionsSchema, StatusSchema } from "../../../../src/api/schema/meta";
import { IPAddressSchema, ServiceCIDRSchema } from "../../../../src/api/schema/kinds/networking";
import { EvictionSchema } from "../../../../src/api/schema/kinds/policy";
import { ClusterRoleBindingSchema, ClusterRoleSchema, RoleBindingSchema, RoleSchema } from "../../../../src/api/schema/kinds/rbac";
import type { MessageSchema } from "../../../../src/api/schema/types";

export const ALL_KINDS: readonly MessageSchema[] = [
  ServiceSchema,
  NamespaceSchema,
  NodeSchema,
  PodSchema,
  PodTemplateSchema,
  ConfigMapSchema,
  ResourceQuotaSchema,
  SecretSchema,
  ServiceAccountSchema,
  BindingSchema,
  EvictionSchema,
  EndpointsSchema,
  CoreEventSchema,
  ServiceCIDRSchema,
  IPAddressSchema,
  LeaseSchema,
  EndpointSliceSchema,
  EventsEventSchema,
  ClusterRoleBindingSchema,
  ClusterRoleSchema,
  RoleBindingSchema,
  RoleSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
  LocalSubjectAccessReviewSchema,
  SelfSubjectReviewSchema,
  TokenReviewSchema,
  TokenRequestSchema,
  StatusSchema,
  DeleteOptionsSchema,
];
