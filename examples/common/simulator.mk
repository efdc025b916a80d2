# The program that simulates the devices of PACKAGE beside an emulator: OUTPUT. SERVER is Intarsia's
# boards/host/device_server.cpp.
# Ten files are compiled as one, since half of the time goes to headers that each of them reads.
SOURCES := $(SERVER) $(sort $(abspath $(shell find $(PACKAGE)/simulator -name '*.cpp')))
HASH := \#
PARTS := $(shell rm -rf $(OUTPUT).objects && mkdir -p $(OUTPUT).objects && \
  printf '$(HASH)include "%s"\n' $(SOURCES) | split -l 10 - $(OUTPUT).objects/part_ && ls $(OUTPUT).objects/part_*)

$(OUTPUT): $(PARTS:=.o)
	c++ $^ -o $@
$(PARTS:=.o): %.o: %
	c++ -std=c++20 -O2 -I$(PACKAGE)/simulator -x c++ -c $< -o $@
$(PARTS): ;
