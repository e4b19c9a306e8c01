/** PodTemplates (upstream pkg/registry/core/podtemplate, pkg/apis/core/validation ValidatePodTemplate and ValidatePodTemplateSpec). */
import { semanticEqual } from "../../meta/equality";
import { forbiddenField } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { PodTemplate } from "../../meta/kubernetes";
import { validateAnnotations, validateLabels } from "../../meta/object-meta";
import { PodTemplateSchema } from "../../schema/kinds/core-pod-templates";
import { BASE_STRATEGY } from "../base-strategy";
import { NAME_COLUMN, column, labelsText, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defaultPodTemplate } from "../pods/defaults";
import { podTemplateWarnings } from "../pods/warnings";
import { validatePodSpec } from "../pods/validate-spec";
import { defineResource } from "../resource";
import { inTodaysForm } from "../stored-form";

function validate({ template }: PodTemplate): FieldError[] {
  const errors: FieldError[] = [];
  validateLabels(template?.metadata?.labels, "template.labels", errors);
  validateAnnotations(template?.metadata?.annotations, "template.annotations", errors);
  validatePodSpec(template?.spec ?? { containers: [] }, "template.spec", false, errors);
  if (template?.spec?.ephemeralContainers?.length) {
    errors.push(forbiddenField("template.spec.ephemeralContainers", "ephemeral containers not allowed in pod template"));
  }
  return errors;
}

/** A template that does not change is good, whatever rules came since it was stored. */
function validateNew(object: PodTemplate, before: PodTemplate | undefined): FieldError[] {
  const stored = before && inTodaysForm<PodTemplate>({ template: before.template }, PodTemplateSchema, defaultPodTemplate);
  return stored && semanticEqual(object.template, stored.template) ? [] : validate(object);
}

/** Of a new template, and of one that changes. */
function warnings({ template }: PodTemplate, before: PodTemplate | undefined): string[] {
  if (!template || (before && semanticEqual(template, before.template))) return [];
  return podTemplateWarnings("template", template);
}

export const podTemplatesDefinition = defineResource<PodTemplate>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "podtemplates",
  singular: "podtemplate",
  kind: "PodTemplate",
  schema: PodTemplateSchema,
  columns: [
    NAME_COLUMN,
    column("Containers", "Names of the containers of the template."),
    column("Images", "Images of the containers of the template."),
    column("Pod Labels", "Labels of the template."),
  ],
  cells(object) {
    const containers = object.template?.spec?.containers ?? [];
    const names = containers.map(({ name }) => name).join(",");
    return [nameOf(object), names, containers.map(({ image }) => image).join(","), labelsText(object.template?.metadata?.labels)];
  },
  strategy: { ...BASE_STRATEGY, defaults: defaultPodTemplate, validate: (object, _, before) => validateNew(object, before), warnings },
  returnsDeletedObject: true,
  generation: "spec",
});
