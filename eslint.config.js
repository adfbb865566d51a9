import js from "@eslint/js";
import globals from "globals";

export default [
  {
    ignores: ["**/*", "!**/*/", "!{triattn_core,pages,tests}/**/*.js", ".venv/"],
  },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "max-lines": ["error", { max: 250 }],
      "max-lines-per-function": ["error", { max: 60, IIFEs: true }],
      "max-len": ["error", { code: 100, ignoreStrings: true, ignoreTemplateLiterals: true }],
      "no-shadow": "error",
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "one-var": ["error", "never"],
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["{triattn_core,pages}/**/*.js", "tests/browser/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules: {
      "no-restricted-globals": ["error", "name", "event", "status", "length", "top", "parent"],
    },
  },
  { files: ["tests/scripts/**/*.js"], languageOptions: { globals: globals.node } },
];
