# Builds an example's firmware. The example's Makefile says, and then includes this:
#   MODELS    the names of its models, C identifiers; each is NAME.tflite beside the Makefile, or what NAME_FILE says
#   SOURCES   its C files, paths below examples/
#   BOARD     the board, if it is not mps2-an386; $(BOARD).ld beside this file is its memory
#   TARGET    what runs the models, if it is not the board's core
#   COMPILE   further options of intarsia compile
#   PARTS     further C files, whole paths or from the Makefile's folder
#   FLAGS     further options of the C compiler
# The command line says INTARSIA=path of the program `intarsia`; BUILD=the folder that all is made in;
# EXTRA_CFLAGS=further options of the C compiler.
BOARD ?= mps2-an386
COMMON := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
EXAMPLES := $(patsubst %/common,%,$(COMMON))
BUILD ?= build
CC := arm-none-eabi-gcc
CXX := arm-none-eabi-g++
MAIN := $(shell echo $(firstword $(MODELS)) | tr a-z A-Z)
file_of = $(or $($(1)_FILE),$(1).tflite)

all: $(BUILD)/firmware.elf

# The packages: C sources, and lists of them for make.
define compile_model
$(INTARSIA) compile $(call file_of,$(1)) --name $(1) --board $(BOARD) $(if $(TARGET),--target "$(TARGET)") $(COMPILE) \
  -o $(BUILD)/$(1) > $(BUILD)/$(1).txt

endef
$(BUILD)/packages.mk: $(foreach model,$(MODELS),$(call file_of,$(model))) $(INTARSIA) $(MAKEFILE_LIST)
	@mkdir -p $(BUILD)
	$(foreach model,$(MODELS),$(call compile_model,$(model)))
	@for list in $(foreach model,$(MODELS),$(BUILD)/$(model)/$(model).mk) $(BUILD)/runtime/intarsia_runtime.mk; do \
	  if [ -f $$list ]; then echo "include $$list"; fi; done > $@
-include $(BUILD)/packages.mk

# The options of the core are those of the models; all are for one.
OPTIONS := -O2 -g -ffunction-sections -fdata-sections -Wall -Wextra -Werror -DINTARSIA_BOARD_MEMORIES $(FLAGS) $(EXTRA_CFLAGS)
CFLAGS = $($(MAIN)_CFLAGS) $(OPTIONS)
CXXFLAGS = $($(MAIN)_CXXFLAGS) $(OPTIONS)
INCLUDES = -I. -I$(COMMON) -I$(COMMON)/signal $(foreach model,$(MODELS),-I$(BUILD)/$(model)) $(INTARSIA_RUNTIME_INCLUDES)
ALL_SOURCES = $(addprefix $(EXAMPLES)/,$(SOURCES) common/startup.c common/semihosting.c) $(PARTS) \
  $(foreach model,$(MODELS),$($(shell echo $(model) | tr a-z A-Z)_SOURCES)) $(INTARSIA_RUNTIME_SOURCES)
# By their whole paths: files of different folders have one name.
OBJECTS = $(patsubst %,$(BUILD)/objects%.o,$(abspath $(ALL_SOURCES)))

$(BUILD)/firmware.elf: $(OBJECTS) $(COMMON)/$(BOARD).ld
	$(CC) $(CFLAGS) $(OBJECTS) -nostartfiles -T $(COMMON)/$(BOARD).ld -Wl,--gc-sections -o $@

$(BUILD)/objects/%.c.o: /%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INCLUDES) -MMD -MP -c $< -o $@
$(BUILD)/objects/%.cpp.o: /%.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(INCLUDES) -MMD -MP -c $< -o $@
-include $(OBJECTS:.o=.d)

# Changes when the options do.
$(BUILD)/flags: always
	@echo '$(CFLAGS) $(CXXFLAGS)' | cmp -s - $@ || echo '$(CFLAGS) $(CXXFLAGS)' > $@

# For run.sh: which board QEMU is to be.
machine:
	@echo $(BOARD)

.PHONY: all always machine
