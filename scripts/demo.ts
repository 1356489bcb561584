// `npm run demo`.

import '../src/demo/main.js';
