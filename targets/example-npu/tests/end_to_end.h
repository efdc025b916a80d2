// End to end, for models that this device runs alone.
#pragma once

#include "kinds.h"
#include "support/device_end_to_end.h"
