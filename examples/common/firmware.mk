# Builds an example's firmware. The example's Makefile says, and then includes this:
#   MODEL     its .tflite, without the ending; the name is a C identifier
#   SOURCES   its C files, paths below examples/
# The command line says INTARSIA=path of the program `intarsia`; BUILD=the folder that all is made in;
# EXTRA_CFLAGS=further options of the C compiler.
BOARD := mps2-an386
COMMON := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
EXAMPLES := $(patsubst %/common,%,$(COMMON))
BUILD ?= build
CC := arm-none-eabi-gcc
MODEL_UPPER := $(shell echo $(MODEL) | tr a-z A-Z)
PACKAGE := $(BUILD)/$(MODEL)

all: $(BUILD)/firmware.elf

# The package: C sources, and lists of them for make.
$(PACKAGE)/$(MODEL).mk: $(MODEL).tflite $(INTARSIA)
	@mkdir -p $(BUILD)
	$(INTARSIA) compile $< --board $(BOARD) -o $(PACKAGE) > $(BUILD)/$(MODEL).txt
-include $(PACKAGE)/$(MODEL).mk

# Scales and zero points, for packages whose header does not have them.
$(BUILD)/$(MODEL)_scales.h: $(PACKAGE)/$(MODEL).mk $(COMMON)/model_scales.py
	python3 $(COMMON)/model_scales.py $(PACKAGE)/$(MODEL).h > $@

# The package's lists say which options its core takes; where they do not, these.
CORE_CFLAGS := $(or $($(MODEL_UPPER)_CFLAGS),-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -std=c11)
CFLAGS := $(CORE_CFLAGS) -O2 -g -ffunction-sections -fdata-sections -Wall -Wextra -Werror $(EXTRA_CFLAGS)
INCLUDES = -I. -I$(COMMON) -I$(COMMON)/signal -I$(BUILD) $($(MODEL_UPPER)_INCLUDES)
ALL_SOURCES = $(addprefix $(EXAMPLES)/,$(SOURCES) common/startup.c common/semihosting.c) $($(MODEL_UPPER)_SOURCES) \
  $(INTARSIA_RUNTIME_SOURCES)
# By their whole paths: files of different folders have one name.
OBJECTS = $(patsubst %,$(BUILD)/objects%.o,$(abspath $(ALL_SOURCES)))

$(BUILD)/firmware.elf: $(OBJECTS) $(COMMON)/$(BOARD).ld
	$(CC) $(CFLAGS) $(OBJECTS) -nostartfiles -T $(COMMON)/$(BOARD).ld -Wl,--gc-sections -o $@

$(BUILD)/objects/%.c.o: /%.c $(BUILD)/flags $(BUILD)/$(MODEL)_scales.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INCLUDES) -MMD -c $< -o $@
-include $(OBJECTS:.o=.d)

# Changes when the options do.
$(BUILD)/flags: always
	@echo '$(CFLAGS)' | cmp -s - $@ || echo '$(CFLAGS)' > $@

.PHONY: all always
