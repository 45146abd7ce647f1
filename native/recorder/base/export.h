#pragma once

// Exports a symbol from the recorder's shared library; all other symbols are hidden.
#define FRAMEDEX_EXPORT __attribute__((visibility("default")))
