// The whole road for models that this device runs alone.
#pragma once

#include "kinds.h"
#include "support/device_road.h"
