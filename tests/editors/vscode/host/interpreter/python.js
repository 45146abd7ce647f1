// What the Python extension exports (its package @vscode/python-extension); `select` in place of a person, and how often
// it was `asked` for the interpreter.

const vscode = require("vscode");

exports.activate = () => {
  const changed = new vscode.EventEmitter();
  let selected = "python";
  let asked = 0;
  return {
    environments: {
      getActiveEnvironmentPath: () => {
        asked++;
        return { id: selected, path: selected };
      },
      resolveEnvironment: async ({ path }) => (path === "python" ? undefined : { executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
    asked: () => asked,
    select: (path) => {
      selected = path;
      changed.fire({ id: path, path });
    },
  };
};
