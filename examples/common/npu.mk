# A simulated NPU beside QEMU. The example's Makefile includes it before firmware.mk. BOARDS is the folder boards/ of
# Intarsia, which has both ends of the connection: that of the repository or of the installation, for a copy of an example
# the command line says it.
BOARD := mps3-an547
TARGET := cortex-m55 + ethos-u55-128
BOARDS ?= $(patsubst %/host/device_server.cpp,%,$(firstword \
  $(wildcard ../../boards/host/device_server.cpp ../../../../intarsia/boards/host/device_server.cpp)))
ifeq ($(BOARDS),)
$(error say where the folder boards/ of Intarsia is: BOARDS=FOLDER)
endif
PARTS := $(BOARDS)/common/remote_device.c
FLAGS += -DNPU_BESIDE_EMULATOR -I$(BOARDS)/common/include

all: $(BUILD)/npu

# The simulator is part of the package, which has to be there before its files can be listed.
$(BUILD)/npu: $(BUILD)/packages.mk $(BOARDS)/host/device_server.cpp
	@$(MAKE) -s -f $(EXAMPLES)/common/simulator.mk OUTPUT=$@ PACKAGE=$(BUILD)/$(firstword $(MODELS)) \
	  SERVER=$(abspath $(BOARDS)/host/device_server.cpp)
