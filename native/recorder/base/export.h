#pragma once

// Marks what the recorder's shared library offers to the others; everything else is hidden.
#define FRAMEDEX_EXPORT __attribute__((visibility("default")))
