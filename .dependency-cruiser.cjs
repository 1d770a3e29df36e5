// Who may import whom: docs/architecture, section 2, as lint rules. The longest path wins; anything else is refused.
const platform = "^(node:|fs|path|crypto|net|http|http2|https|tls|os|child_process|worker_threads|stream|zlib|url|util|events|process|timers)";
const owners = "^(p-queue|winston|prom-client|undici|fastify|@kubernetes/client-node|dockerode|@grpc/grpc-js)";
const test = "\\.test\\.ts$";
const onlyTo = (folder, allowed) => ({
  name: `${folder}-imports`,
  severity: "error",
  from: { path: `^${folder}/`, pathNot: test },
  to: { path: "^(api|schema|controllers|webhooks|runtime|apiserver|hooks|extensions|simulator|cmd|hack|test)/", pathNot: `^(${[folder, ...allowed].join("|")})/` },
});
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "base-imports-nothing", severity: "error", from: { path: "^runtime/base/", pathNot: test }, to: { path: "^[a-z]+/", pathNot: "^(runtime/base|node_modules)/" } },
    onlyTo("api", []),
    onlyTo("schema", ["api/meta", "runtime/base"]),
    onlyTo("runtime", ["api/meta", "schema"]),
    onlyTo("apiserver", ["api/meta", "schema", "runtime/base"]),
    onlyTo("hooks", ["api", "schema", "runtime/base"]),
    onlyTo("webhooks", ["api", "schema", "runtime/base"]),
    onlyTo("controllers", ["api", "schema", "runtime", "hooks"]),
    onlyTo("extensions", ["api", "schema", "runtime", "hooks"]),
    onlyTo("simulator", ["api", "schema", "runtime", "apiserver", "hooks", "controllers", "webhooks", "extensions"]),
    {
      name: "controllers-stay-apart",
      severity: "error",
      from: { path: "^controllers/(cluster|machinedeployment|machineset|machine|kubeadmconfig|kubeadmcontrolplane|machinehealthcheck|extensionconfig|topology)/", pathNot: test },
      to: { path: "^controllers/(cluster|machinedeployment|machineset|machine|kubeadmconfig|kubeadmcontrolplane|machinehealthcheck|extensionconfig|topology)/", pathNot: "^controllers/$1/" },
    },
    {
      name: "platform-only-at-the-edge",
      severity: "error",
      from: { path: "^(api|schema|controllers|webhooks|runtime|apiserver|hooks|extensions|simulator)/", pathNot: `(/real/|${test})` },
      to: { path: [platform, owners, "node_modules/(p-queue|winston|prom-client|undici|fastify|@kubernetes/client-node|dockerode|@grpc/grpc-js)/"], dependencyTypesNot: ["local"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|node_modules|test/conformance/(api|kinds))/" },
    parser: "swc",
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["source", "import", "require", "node", "default"], extensions: [".ts", ".js", ".json"] },
  },
};
