// What the Python extension exports (its package @vscode/python-extension), and `select` in place of a person.

const vscode = require("vscode");

exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let selected = "python";
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ id: selected, path: selected }),
      resolveEnvironment: async ({ path }) => (path === "python" ? undefined : { executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
    select: (path) => {
      selected = path;
      changed.fire({ id: path, path });
    },
  };
};
