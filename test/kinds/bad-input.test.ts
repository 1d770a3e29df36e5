// Bad input: each sample spoiled in 50 ways gets the field and the reason that the schema says beforehand, and nothing else.
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../../api/meta/object.ts";
import { type Answer, definitionOf, type KindServer, samples, startKinds } from "./in-process.ts";
import { chosen, type Mutation, mutationsOf } from "./mutations.ts";

const WAYS = 50;

let server: KindServer;
beforeAll(async () => {
  server = await startKinds();
});

const causesOf = ({ status }: Answer): readonly string[] =>
  (status?.details?.causes ?? []).map(({ reason, field }) => `${String(reason).replace("FieldValue", "")} ${field}`).sort();

async function outcome({ object, strict }: Mutation) {
  const answer = await server.send("POST", object, `dryRun=All${strict ? "&fieldValidation=Strict" : ""}`);
  return { code: answer.code, causes: answer.code === 422 ? causesOf(answer) : [], message: answer.status?.message ?? "" };
}

describe.each(samples().map((sample) => [`${sample.kind} ${sample.metadata.name}`, sample] as const))("%s", (_title, sample) => {
  it("is accepted as it is", async () => {
    const { code, status } = await server.send("POST", sample, "dryRun=All&fieldValidation=Strict");
    expect([code, status?.message]).toEqual([201, undefined]);
  });

  it(`is refused in ${WAYS} ways`, async () => {
    const ways = chosen(mutationsOf(definitionOf(sample), sample), WAYS);
    expect(ways.length).toBe(WAYS);
    const wrong: string[] = [];
    for (const way of ways) {
      const { code, causes, message } = await outcome(way);
      const isSaid = way.mentions === undefined || message.includes(way.mentions);
      if (code !== way.code || JSON.stringify(causes) !== JSON.stringify(way.causes) || !isSaid)
        wrong.push(
          `${way.what}: wanted ${[way.code, ...way.causes].join(", ")}, got ${[code, ...causes].join(", ")}: ${message.slice(0, 300)}`,
        );
    }
    expect(wrong).toEqual([]);
  });
});

/** An update that something forbids: sample, change by path, errors. Others are in the tables beside the rules (webhooks). */
const CHANGES: readonly (readonly [kind: string, change: (spec: Fields) => Fields, wanted: readonly string[]])[] = [
  ["MachineDeployment", moved("clusterName", "template.spec.clusterName"), ["Forbidden spec.clusterName"]],
  ["MachineSet", moved("clusterName", "template.spec.clusterName"), ["Forbidden spec.clusterName"]],
  ["Machine", moved("clusterName"), ["Forbidden spec.clusterName"]],
  ["MachineHealthCheck", moved("clusterName"), ["Forbidden spec.clusterName"]],
  [
    "KubeadmControlPlane",
    moved("kubeadmConfigSpec.clusterConfiguration.certificatesDir"),
    ["Forbidden spec.kubeadmConfigSpec.clusterConfiguration.certificatesDir"],
  ],
  ["KubeadmControlPlaneTemplate", moved("template.spec.kubeadmConfigSpec.verbosity"), ["Invalid spec.template.spec"]],
  ["DevClusterTemplate", moved("template.spec.backend.inMemory", "template.spec.backend.docker"), ["Invalid spec.template.spec"]],
  ["DevMachineTemplate", moved("template.spec.providerID"), ["Invalid spec.template.spec"]],
  ["ClusterClass", moved("infrastructure.templateRef.kind"), ["Forbidden spec.infrastructure.templateRef.kind"]],
];

type Fields = Readonly<Record<string, unknown>>;

const VALUES: Readonly<Record<string, unknown>> = {
  verbosity: 7,
  kind: "OtherTemplate",
  inMemory: undefined,
  docker: { bootstrapTimeout: "77s" },
};

/** Gives fields another value. */
function moved(...paths: readonly string[]): (spec: Fields) => Fields {
  const put = (value: unknown, [key = "", ...rest]: readonly string[]): Fields => {
    const { [key]: inner, ...others } = (value ?? {}) as Fields;
    const next = rest.length > 0 ? put(inner, rest) : key in VALUES ? VALUES[key] : "other";
    return next === undefined ? others : { ...others, [key]: next };
  };
  return (spec) => paths.reduce<Fields>((all, path) => put(all, path.split(".")), spec);
}

describe.each(CHANGES)("a stored %s", (kind, change, wanted) => {
  it("keeps what is immutable", async () => {
    const sample = samples().find((one) => one.kind === kind) as KubeObject & { readonly spec: Fields };
    const { code, object, status } = await server.send("POST", sample);
    expect([code, status?.message]).toEqual([201, undefined]);
    const answer = await server.send("PUT", { ...object, spec: change((object as typeof sample).spec) } as KubeObject);
    expect([answer.code, causesOf(answer)]).toEqual([422, wanted]);
  });
});
