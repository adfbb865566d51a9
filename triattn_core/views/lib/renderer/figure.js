// Any figure that is described (figure.py, lists.py): their one script.

import { DescribedFigure } from "./described.js";
import { mountLists } from "./lists.js";

export const mount = (root, payload, host) =>
  payload.sections ? mountLists(root, payload, host) : DescribedFigure.mount(root, payload, host);
