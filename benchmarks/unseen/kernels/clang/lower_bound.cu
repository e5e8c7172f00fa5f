// Where each key would stand in a sorted table: a binary search that stops early when it meets the key.
#include "device.h"

extern "C" __global__ void lower_bound(int *position, const int *keys, const int *table, int n, int size)
{
    int i = THREAD;
    if (i >= n)
        return;
    int key = keys[i], low = 0, high = size;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int there = table[middle];
        if (there == key) {
            low = middle;
            break;
        }
        if (there < key)
            low = middle + 1;
        else
            high = middle;
    }
    position[i] = low;
}
