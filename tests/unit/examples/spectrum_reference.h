// What the fixed-point code is compared with: the definitions in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace intarsia::examples {

/// Bins 0 to N/2 of the discrete Fourier transform of N samples, divided by N.
std::vector<std::complex<double>> spectrum(const std::vector<double>& samples);

/// The samples whose `spectrum` that is.
std::vector<double> samples_of(const std::vector<std::complex<double>>& bins);

/// Energies of triangular bands: band b rises from bin edges[b] to edges[b+1] and falls to edges[b+2].
std::vector<double> band_energies(const std::vector<std::complex<double>>& bins,
                                  const std::vector<int>& edges);

/// Bins of the centres of `count` bands at even distances of mel from `low` to `high` Hz, and where the first begins
/// and the last ends, for transforms of `size` samples; each is beyond the one before it.
std::vector<int> mel_edges(int count, int size, double rate, double low, double high);

/// A file of 16-bit samples below examples/.
std::vector<int16_t> recorded_samples(const std::string& path);

}  // namespace intarsia::examples
