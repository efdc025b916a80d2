# The program that simulates the devices of PACKAGE beside an emulator: OUTPUT. SERVER is Intarsia's
# boards/host/device_server.cpp.
SOURCES := $(SERVER) $(abspath $(shell find $(PACKAGE)/simulator -name '*.cpp'))
OBJECTS := $(patsubst %,$(OUTPUT).objects%.o,$(SOURCES))

$(OUTPUT): $(OBJECTS)
	c++ $^ -o $@
$(OUTPUT).objects/%.cpp.o: /%.cpp
	@mkdir -p $(@D)
	c++ -std=c++20 -O2 -I$(PACKAGE)/simulator -c $< -o $@
