# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO


from goptx.ptx.rule import Rule

def serializedATN():
    return [
        4,1,63,617,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,1,0,5,0,52,8,0,10,0,
        12,0,55,9,0,1,0,1,0,1,1,1,1,1,1,1,1,1,1,1,1,5,1,65,8,1,10,1,12,1,
        68,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3,1,79,8,1,1,1,1,1,1,
        1,1,1,5,1,85,8,1,10,1,12,1,88,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,5,
        1,97,8,1,10,1,12,1,100,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,5,1,110,
        8,1,10,1,12,1,113,9,1,1,1,3,1,116,8,1,1,2,1,2,1,3,1,3,1,3,3,3,123,
        8,3,1,4,1,4,1,4,1,4,1,4,1,4,5,4,131,8,4,10,4,12,4,134,9,4,3,4,136,
        8,4,1,4,3,4,139,8,4,1,4,5,4,142,8,4,10,4,12,4,145,9,4,1,4,1,4,3,
        4,149,8,4,1,5,1,5,5,5,153,8,5,10,5,12,5,156,9,5,1,5,1,5,1,5,1,5,
        5,5,162,8,5,10,5,12,5,165,9,5,1,5,1,5,3,5,169,8,5,1,5,1,5,1,5,1,
        5,1,5,5,5,176,8,5,10,5,12,5,179,9,5,3,5,181,8,5,1,5,3,5,184,8,5,
        1,5,5,5,187,8,5,10,5,12,5,190,9,5,1,5,1,5,3,5,194,8,5,1,6,1,6,3,
        6,198,8,6,1,7,1,7,1,7,1,7,5,7,204,8,7,10,7,12,7,207,9,7,3,7,209,
        8,7,1,7,1,7,1,7,1,7,5,7,215,8,7,10,7,12,7,218,9,7,1,7,3,7,221,8,
        7,1,8,3,8,224,8,8,1,8,1,8,5,8,228,8,8,10,8,12,8,231,9,8,1,8,1,8,
        1,8,5,8,236,8,8,10,8,12,8,239,9,8,1,8,1,8,1,9,1,9,5,9,245,8,9,10,
        9,12,9,248,9,9,1,9,3,9,251,8,9,1,10,1,10,1,10,1,10,3,10,257,8,10,
        1,10,5,10,260,8,10,10,10,12,10,263,9,10,1,10,1,10,3,10,267,8,10,
        1,11,1,11,1,11,1,11,3,11,273,8,11,1,12,1,12,1,12,1,12,1,12,5,12,
        280,8,12,10,12,12,12,283,9,12,1,12,1,12,1,13,1,13,1,13,1,13,1,13,
        5,13,292,8,13,10,13,12,13,295,9,13,1,13,3,13,298,8,13,1,14,1,14,
        3,14,302,8,14,1,14,1,14,1,15,1,15,1,15,1,15,5,15,310,8,15,10,15,
        12,15,313,9,15,3,15,315,8,15,1,15,1,15,1,15,1,15,3,15,321,8,15,3,
        15,323,8,15,1,16,1,16,5,16,327,8,16,10,16,12,16,330,9,16,1,16,1,
        16,1,17,1,17,1,17,5,17,337,8,17,10,17,12,17,340,9,17,1,17,1,17,1,
        17,5,17,345,8,17,10,17,12,17,348,9,17,3,17,350,8,17,1,17,3,17,353,
        8,17,1,17,1,17,3,17,357,8,17,1,17,1,17,1,17,5,17,362,8,17,10,17,
        12,17,365,9,17,1,17,1,17,1,17,5,17,370,8,17,10,17,12,17,373,9,17,
        3,17,375,8,17,1,17,1,17,1,17,5,17,380,8,17,10,17,12,17,383,9,17,
        1,17,1,17,1,17,1,17,1,17,1,17,1,17,1,17,5,17,393,8,17,10,17,12,17,
        396,9,17,1,17,1,17,1,17,1,17,1,17,1,17,1,17,1,17,5,17,406,8,17,10,
        17,12,17,409,9,17,1,17,1,17,1,17,1,17,1,17,5,17,416,8,17,10,17,12,
        17,419,9,17,1,17,1,17,1,17,1,17,1,17,1,17,5,17,427,8,17,10,17,12,
        17,430,9,17,1,17,1,17,1,17,1,17,1,17,1,17,1,17,5,17,439,8,17,10,
        17,12,17,442,9,17,3,17,444,8,17,1,17,3,17,447,8,17,1,17,1,17,1,17,
        1,17,1,17,5,17,454,8,17,10,17,12,17,457,9,17,3,17,459,8,17,1,17,
        3,17,462,8,17,1,17,5,17,465,8,17,10,17,12,17,468,9,17,1,17,3,17,
        471,8,17,1,18,1,18,4,18,475,8,18,11,18,12,18,476,1,18,1,18,1,18,
        5,18,482,8,18,10,18,12,18,485,9,18,1,18,1,18,1,19,1,19,1,19,1,19,
        3,19,493,8,19,1,20,1,20,1,20,1,20,3,20,499,8,20,1,20,1,20,1,20,3,
        20,504,8,20,1,21,1,21,1,21,1,21,5,21,510,8,21,10,21,12,21,513,9,
        21,3,21,515,8,21,1,21,1,21,1,21,3,21,520,8,21,1,21,1,21,1,21,1,21,
        5,21,526,8,21,10,21,12,21,529,9,21,1,21,1,21,1,21,1,21,1,21,1,21,
        1,21,1,21,1,21,5,21,540,8,21,10,21,12,21,543,9,21,3,21,545,8,21,
        1,21,1,21,5,21,549,8,21,10,21,12,21,552,9,21,3,21,554,8,21,1,21,
        1,21,1,21,1,21,1,21,1,21,5,21,562,8,21,10,21,12,21,565,9,21,3,21,
        567,8,21,1,21,1,21,1,21,1,21,5,21,573,8,21,10,21,12,21,576,9,21,
        3,21,578,8,21,1,22,1,22,5,22,582,8,22,10,22,12,22,585,9,22,1,23,
        1,23,1,23,1,24,5,24,591,8,24,10,24,12,24,594,9,24,1,24,1,24,3,24,
        598,8,24,1,24,1,24,1,24,1,24,3,24,604,8,24,1,24,1,24,1,24,1,24,1,
        24,1,24,1,24,3,24,613,8,24,3,24,615,8,24,1,24,0,0,25,0,2,4,6,8,10,
        12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,0,11,2,
        0,52,52,54,55,1,0,52,53,4,0,3,3,5,5,12,14,52,56,1,0,55,56,2,0,19,
        19,51,51,2,0,51,51,53,53,3,0,11,11,50,51,53,53,3,0,13,14,28,28,35,
        35,1,0,54,55,4,0,12,14,20,21,34,34,36,49,1,0,54,56,703,0,53,1,0,
        0,0,2,115,1,0,0,0,4,117,1,0,0,0,6,122,1,0,0,0,8,124,1,0,0,0,10,150,
        1,0,0,0,12,197,1,0,0,0,14,220,1,0,0,0,16,223,1,0,0,0,18,242,1,0,
        0,0,20,252,1,0,0,0,22,272,1,0,0,0,24,274,1,0,0,0,26,286,1,0,0,0,
        28,299,1,0,0,0,30,322,1,0,0,0,32,324,1,0,0,0,34,470,1,0,0,0,36,472,
        1,0,0,0,38,488,1,0,0,0,40,494,1,0,0,0,42,577,1,0,0,0,44,579,1,0,
        0,0,46,586,1,0,0,0,48,592,1,0,0,0,50,52,3,2,1,0,51,50,1,0,0,0,52,
        55,1,0,0,0,53,51,1,0,0,0,53,54,1,0,0,0,54,56,1,0,0,0,55,53,1,0,0,
        0,56,57,5,0,0,1,57,1,1,0,0,0,58,59,5,1,0,0,59,116,7,0,0,0,60,61,
        5,2,0,0,61,66,5,52,0,0,62,63,5,3,0,0,63,65,5,52,0,0,64,62,1,0,0,
        0,65,68,1,0,0,0,66,64,1,0,0,0,66,67,1,0,0,0,67,116,1,0,0,0,68,66,
        1,0,0,0,69,70,5,4,0,0,70,116,5,55,0,0,71,72,5,5,0,0,72,73,5,55,0,
        0,73,78,5,56,0,0,74,75,5,3,0,0,75,76,5,55,0,0,76,77,5,3,0,0,77,79,
        5,55,0,0,78,74,1,0,0,0,78,79,1,0,0,0,79,116,1,0,0,0,80,81,5,6,0,
        0,81,82,7,1,0,0,82,86,5,7,0,0,83,85,3,4,2,0,84,83,1,0,0,0,85,88,
        1,0,0,0,86,84,1,0,0,0,86,87,1,0,0,0,87,89,1,0,0,0,88,86,1,0,0,0,
        89,116,5,8,0,0,90,116,5,57,0,0,91,116,5,58,0,0,92,93,5,9,0,0,93,
        98,5,56,0,0,94,95,5,3,0,0,95,97,5,56,0,0,96,94,1,0,0,0,97,100,1,
        0,0,0,98,96,1,0,0,0,98,99,1,0,0,0,99,101,1,0,0,0,100,98,1,0,0,0,
        101,116,5,10,0,0,102,103,5,11,0,0,103,104,5,52,0,0,104,105,5,3,0,
        0,105,106,5,52,0,0,106,116,5,10,0,0,107,116,3,36,18,0,108,110,5,
        50,0,0,109,108,1,0,0,0,110,113,1,0,0,0,111,109,1,0,0,0,111,112,1,
        0,0,0,112,114,1,0,0,0,113,111,1,0,0,0,114,116,3,6,3,0,115,58,1,0,
        0,0,115,60,1,0,0,0,115,69,1,0,0,0,115,71,1,0,0,0,115,80,1,0,0,0,
        115,90,1,0,0,0,115,91,1,0,0,0,115,92,1,0,0,0,115,102,1,0,0,0,115,
        107,1,0,0,0,115,111,1,0,0,0,116,3,1,0,0,0,117,118,7,2,0,0,118,5,
        1,0,0,0,119,123,3,16,8,0,120,123,3,8,4,0,121,123,3,10,5,0,122,119,
        1,0,0,0,122,120,1,0,0,0,122,121,1,0,0,0,123,7,1,0,0,0,124,125,5,
        15,0,0,125,138,5,52,0,0,126,135,5,16,0,0,127,132,3,18,9,0,128,129,
        5,3,0,0,129,131,3,18,9,0,130,128,1,0,0,0,131,134,1,0,0,0,132,130,
        1,0,0,0,132,133,1,0,0,0,133,136,1,0,0,0,134,132,1,0,0,0,135,127,
        1,0,0,0,135,136,1,0,0,0,136,137,1,0,0,0,137,139,5,17,0,0,138,126,
        1,0,0,0,138,139,1,0,0,0,139,143,1,0,0,0,140,142,3,14,7,0,141,140,
        1,0,0,0,142,145,1,0,0,0,143,141,1,0,0,0,143,144,1,0,0,0,144,148,
        1,0,0,0,145,143,1,0,0,0,146,149,3,32,16,0,147,149,5,10,0,0,148,146,
        1,0,0,0,148,147,1,0,0,0,149,9,1,0,0,0,150,154,5,18,0,0,151,153,3,
        12,6,0,152,151,1,0,0,0,153,156,1,0,0,0,154,152,1,0,0,0,154,155,1,
        0,0,0,155,168,1,0,0,0,156,154,1,0,0,0,157,158,5,16,0,0,158,163,3,
        18,9,0,159,160,5,3,0,0,160,162,3,18,9,0,161,159,1,0,0,0,162,165,
        1,0,0,0,163,161,1,0,0,0,163,164,1,0,0,0,164,166,1,0,0,0,165,163,
        1,0,0,0,166,167,5,17,0,0,167,169,1,0,0,0,168,157,1,0,0,0,168,169,
        1,0,0,0,169,170,1,0,0,0,170,183,5,52,0,0,171,180,5,16,0,0,172,177,
        3,18,9,0,173,174,5,3,0,0,174,176,3,18,9,0,175,173,1,0,0,0,176,179,
        1,0,0,0,177,175,1,0,0,0,177,178,1,0,0,0,178,181,1,0,0,0,179,177,
        1,0,0,0,180,172,1,0,0,0,180,181,1,0,0,0,181,182,1,0,0,0,182,184,
        5,17,0,0,183,171,1,0,0,0,183,184,1,0,0,0,184,188,1,0,0,0,185,187,
        3,14,7,0,186,185,1,0,0,0,187,190,1,0,0,0,188,186,1,0,0,0,188,189,
        1,0,0,0,189,193,1,0,0,0,190,188,1,0,0,0,191,194,3,32,16,0,192,194,
        5,10,0,0,193,191,1,0,0,0,193,192,1,0,0,0,194,11,1,0,0,0,195,198,
        5,53,0,0,196,198,3,24,12,0,197,195,1,0,0,0,197,196,1,0,0,0,198,13,
        1,0,0,0,199,208,5,53,0,0,200,205,7,3,0,0,201,202,5,3,0,0,202,204,
        7,3,0,0,203,201,1,0,0,0,204,207,1,0,0,0,205,203,1,0,0,0,205,206,
        1,0,0,0,206,209,1,0,0,0,207,205,1,0,0,0,208,200,1,0,0,0,208,209,
        1,0,0,0,209,221,1,0,0,0,210,211,5,9,0,0,211,216,5,56,0,0,212,213,
        5,3,0,0,213,215,5,56,0,0,214,212,1,0,0,0,215,218,1,0,0,0,216,214,
        1,0,0,0,216,217,1,0,0,0,217,219,1,0,0,0,218,216,1,0,0,0,219,221,
        5,10,0,0,220,199,1,0,0,0,220,210,1,0,0,0,221,15,1,0,0,0,222,224,
        3,24,12,0,223,222,1,0,0,0,223,224,1,0,0,0,224,225,1,0,0,0,225,229,
        5,51,0,0,226,228,3,22,11,0,227,226,1,0,0,0,228,231,1,0,0,0,229,227,
        1,0,0,0,229,230,1,0,0,0,230,232,1,0,0,0,231,229,1,0,0,0,232,237,
        3,20,10,0,233,234,5,3,0,0,234,236,3,20,10,0,235,233,1,0,0,0,236,
        239,1,0,0,0,237,235,1,0,0,0,237,238,1,0,0,0,238,240,1,0,0,0,239,
        237,1,0,0,0,240,241,5,10,0,0,241,17,1,0,0,0,242,246,7,4,0,0,243,
        245,3,22,11,0,244,243,1,0,0,0,245,248,1,0,0,0,246,244,1,0,0,0,246,
        247,1,0,0,0,247,250,1,0,0,0,248,246,1,0,0,0,249,251,3,20,10,0,250,
        249,1,0,0,0,250,251,1,0,0,0,251,19,1,0,0,0,252,256,5,52,0,0,253,
        254,5,20,0,0,254,255,5,55,0,0,255,257,5,21,0,0,256,253,1,0,0,0,256,
        257,1,0,0,0,257,261,1,0,0,0,258,260,3,28,14,0,259,258,1,0,0,0,260,
        263,1,0,0,0,261,259,1,0,0,0,261,262,1,0,0,0,262,266,1,0,0,0,263,
        261,1,0,0,0,264,265,5,22,0,0,265,267,3,30,15,0,266,264,1,0,0,0,266,
        267,1,0,0,0,267,21,1,0,0,0,268,273,7,5,0,0,269,270,5,23,0,0,270,
        273,5,55,0,0,271,273,3,24,12,0,272,268,1,0,0,0,272,269,1,0,0,0,272,
        271,1,0,0,0,273,23,1,0,0,0,274,275,5,24,0,0,275,276,5,16,0,0,276,
        281,3,26,13,0,277,278,5,3,0,0,278,280,3,26,13,0,279,277,1,0,0,0,
        280,283,1,0,0,0,281,279,1,0,0,0,281,282,1,0,0,0,282,284,1,0,0,0,
        283,281,1,0,0,0,284,285,5,17,0,0,285,25,1,0,0,0,286,297,5,53,0,0,
        287,288,5,16,0,0,288,293,5,55,0,0,289,290,5,3,0,0,290,292,5,55,0,
        0,291,289,1,0,0,0,292,295,1,0,0,0,293,291,1,0,0,0,293,294,1,0,0,
        0,294,296,1,0,0,0,295,293,1,0,0,0,296,298,5,17,0,0,297,287,1,0,0,
        0,297,298,1,0,0,0,298,27,1,0,0,0,299,301,5,25,0,0,300,302,5,55,0,
        0,301,300,1,0,0,0,301,302,1,0,0,0,302,303,1,0,0,0,303,304,5,26,0,
        0,304,29,1,0,0,0,305,314,5,7,0,0,306,311,3,30,15,0,307,308,5,3,0,
        0,308,310,3,30,15,0,309,307,1,0,0,0,310,313,1,0,0,0,311,309,1,0,
        0,0,311,312,1,0,0,0,312,315,1,0,0,0,313,311,1,0,0,0,314,306,1,0,
        0,0,314,315,1,0,0,0,315,316,1,0,0,0,316,323,5,8,0,0,317,320,3,44,
        22,0,318,319,5,22,0,0,319,321,3,44,22,0,320,318,1,0,0,0,320,321,
        1,0,0,0,321,323,1,0,0,0,322,305,1,0,0,0,322,317,1,0,0,0,323,31,1,
        0,0,0,324,328,5,7,0,0,325,327,3,34,17,0,326,325,1,0,0,0,327,330,
        1,0,0,0,328,326,1,0,0,0,328,329,1,0,0,0,329,331,1,0,0,0,330,328,
        1,0,0,0,331,332,5,8,0,0,332,33,1,0,0,0,333,352,5,52,0,0,334,353,
        5,12,0,0,335,337,7,6,0,0,336,335,1,0,0,0,337,340,1,0,0,0,338,336,
        1,0,0,0,338,339,1,0,0,0,339,349,1,0,0,0,340,338,1,0,0,0,341,346,
        3,42,21,0,342,343,5,3,0,0,343,345,3,42,21,0,344,342,1,0,0,0,345,
        348,1,0,0,0,346,344,1,0,0,0,346,347,1,0,0,0,347,350,1,0,0,0,348,
        346,1,0,0,0,349,341,1,0,0,0,349,350,1,0,0,0,350,351,1,0,0,0,351,
        353,5,10,0,0,352,334,1,0,0,0,352,338,1,0,0,0,353,471,1,0,0,0,354,
        356,5,27,0,0,355,357,5,28,0,0,356,355,1,0,0,0,356,357,1,0,0,0,357,
        358,1,0,0,0,358,359,5,52,0,0,359,363,5,52,0,0,360,362,7,6,0,0,361,
        360,1,0,0,0,362,365,1,0,0,0,363,361,1,0,0,0,363,364,1,0,0,0,364,
        374,1,0,0,0,365,363,1,0,0,0,366,371,3,42,21,0,367,368,5,3,0,0,368,
        370,3,42,21,0,369,367,1,0,0,0,370,373,1,0,0,0,371,369,1,0,0,0,371,
        372,1,0,0,0,372,375,1,0,0,0,373,371,1,0,0,0,374,366,1,0,0,0,374,
        375,1,0,0,0,375,376,1,0,0,0,376,471,5,10,0,0,377,471,3,36,18,0,378,
        380,5,50,0,0,379,378,1,0,0,0,380,383,1,0,0,0,381,379,1,0,0,0,381,
        382,1,0,0,0,382,384,1,0,0,0,383,381,1,0,0,0,384,471,3,16,8,0,385,
        471,3,32,16,0,386,387,5,29,0,0,387,388,5,55,0,0,388,389,5,55,0,0,
        389,394,5,55,0,0,390,391,5,3,0,0,391,393,3,40,20,0,392,390,1,0,0,
        0,393,396,1,0,0,0,394,392,1,0,0,0,394,395,1,0,0,0,395,471,1,0,0,
        0,396,394,1,0,0,0,397,398,5,30,0,0,398,399,5,55,0,0,399,400,5,55,
        0,0,400,471,5,55,0,0,401,402,5,9,0,0,402,407,5,56,0,0,403,404,5,
        3,0,0,404,406,5,56,0,0,405,403,1,0,0,0,406,409,1,0,0,0,407,405,1,
        0,0,0,407,408,1,0,0,0,408,410,1,0,0,0,409,407,1,0,0,0,410,471,5,
        10,0,0,411,412,5,31,0,0,412,417,3,38,19,0,413,414,5,3,0,0,414,416,
        3,38,19,0,415,413,1,0,0,0,416,419,1,0,0,0,417,415,1,0,0,0,417,418,
        1,0,0,0,418,420,1,0,0,0,419,417,1,0,0,0,420,421,5,10,0,0,421,471,
        1,0,0,0,422,423,5,32,0,0,423,428,3,38,19,0,424,425,5,3,0,0,425,427,
        3,38,19,0,426,424,1,0,0,0,427,430,1,0,0,0,428,426,1,0,0,0,428,429,
        1,0,0,0,429,431,1,0,0,0,430,428,1,0,0,0,431,432,5,10,0,0,432,471,
        1,0,0,0,433,446,5,33,0,0,434,443,5,16,0,0,435,440,3,18,9,0,436,437,
        5,3,0,0,437,439,3,18,9,0,438,436,1,0,0,0,439,442,1,0,0,0,440,438,
        1,0,0,0,440,441,1,0,0,0,441,444,1,0,0,0,442,440,1,0,0,0,443,435,
        1,0,0,0,443,444,1,0,0,0,444,445,1,0,0,0,445,447,5,17,0,0,446,434,
        1,0,0,0,446,447,1,0,0,0,447,448,1,0,0,0,448,461,5,52,0,0,449,458,
        5,16,0,0,450,455,3,18,9,0,451,452,5,3,0,0,452,454,3,18,9,0,453,451,
        1,0,0,0,454,457,1,0,0,0,455,453,1,0,0,0,455,456,1,0,0,0,456,459,
        1,0,0,0,457,455,1,0,0,0,458,450,1,0,0,0,458,459,1,0,0,0,459,460,
        1,0,0,0,460,462,5,17,0,0,461,449,1,0,0,0,461,462,1,0,0,0,462,466,
        1,0,0,0,463,465,3,14,7,0,464,463,1,0,0,0,465,468,1,0,0,0,466,464,
        1,0,0,0,466,467,1,0,0,0,467,469,1,0,0,0,468,466,1,0,0,0,469,471,
        5,10,0,0,470,333,1,0,0,0,470,354,1,0,0,0,470,377,1,0,0,0,470,381,
        1,0,0,0,470,385,1,0,0,0,470,386,1,0,0,0,470,397,1,0,0,0,470,401,
        1,0,0,0,470,411,1,0,0,0,470,422,1,0,0,0,470,433,1,0,0,0,471,35,1,
        0,0,0,472,474,5,19,0,0,473,475,5,53,0,0,474,473,1,0,0,0,475,476,
        1,0,0,0,476,474,1,0,0,0,476,477,1,0,0,0,477,478,1,0,0,0,478,483,
        3,38,19,0,479,480,5,3,0,0,480,482,3,38,19,0,481,479,1,0,0,0,482,
        485,1,0,0,0,483,481,1,0,0,0,483,484,1,0,0,0,484,486,1,0,0,0,485,
        483,1,0,0,0,486,487,5,10,0,0,487,37,1,0,0,0,488,492,5,52,0,0,489,
        490,5,20,0,0,490,491,5,55,0,0,491,493,5,21,0,0,492,489,1,0,0,0,492,
        493,1,0,0,0,493,39,1,0,0,0,494,503,5,52,0,0,495,498,5,52,0,0,496,
        497,5,13,0,0,497,499,5,55,0,0,498,496,1,0,0,0,498,499,1,0,0,0,499,
        504,1,0,0,0,500,501,5,55,0,0,501,502,5,55,0,0,502,504,5,55,0,0,503,
        495,1,0,0,0,503,500,1,0,0,0,504,41,1,0,0,0,505,514,5,7,0,0,506,511,
        3,42,21,0,507,508,5,3,0,0,508,510,3,42,21,0,509,507,1,0,0,0,510,
        513,1,0,0,0,511,509,1,0,0,0,511,512,1,0,0,0,512,515,1,0,0,0,513,
        511,1,0,0,0,514,506,1,0,0,0,514,515,1,0,0,0,515,516,1,0,0,0,516,
        519,5,8,0,0,517,518,5,34,0,0,518,520,5,52,0,0,519,517,1,0,0,0,519,
        520,1,0,0,0,520,578,1,0,0,0,521,522,5,25,0,0,522,527,3,42,21,0,523,
        524,5,3,0,0,524,526,3,42,21,0,525,523,1,0,0,0,526,529,1,0,0,0,527,
        525,1,0,0,0,527,528,1,0,0,0,528,530,1,0,0,0,529,527,1,0,0,0,530,
        531,5,26,0,0,531,578,1,0,0,0,532,553,5,16,0,0,533,534,5,53,0,0,534,
        535,5,17,0,0,535,554,3,42,21,0,536,541,3,42,21,0,537,538,5,3,0,0,
        538,540,3,42,21,0,539,537,1,0,0,0,540,543,1,0,0,0,541,539,1,0,0,
        0,541,542,1,0,0,0,542,545,1,0,0,0,543,541,1,0,0,0,544,536,1,0,0,
        0,544,545,1,0,0,0,545,546,1,0,0,0,546,550,5,17,0,0,547,549,3,46,
        23,0,548,547,1,0,0,0,549,552,1,0,0,0,550,548,1,0,0,0,550,551,1,0,
        0,0,551,554,1,0,0,0,552,550,1,0,0,0,553,533,1,0,0,0,553,544,1,0,
        0,0,554,578,1,0,0,0,555,566,5,52,0,0,556,557,5,25,0,0,557,558,3,
        42,21,0,558,559,5,26,0,0,559,567,1,0,0,0,560,562,3,46,23,0,561,560,
        1,0,0,0,562,565,1,0,0,0,563,561,1,0,0,0,563,564,1,0,0,0,564,567,
        1,0,0,0,565,563,1,0,0,0,566,556,1,0,0,0,566,563,1,0,0,0,567,578,
        1,0,0,0,568,569,7,7,0,0,569,578,3,42,21,0,570,574,7,8,0,0,571,573,
        3,46,23,0,572,571,1,0,0,0,573,576,1,0,0,0,574,572,1,0,0,0,574,575,
        1,0,0,0,575,578,1,0,0,0,576,574,1,0,0,0,577,505,1,0,0,0,577,521,
        1,0,0,0,577,532,1,0,0,0,577,555,1,0,0,0,577,568,1,0,0,0,577,570,
        1,0,0,0,578,43,1,0,0,0,579,583,3,48,24,0,580,582,3,46,23,0,581,580,
        1,0,0,0,582,585,1,0,0,0,583,581,1,0,0,0,583,584,1,0,0,0,584,45,1,
        0,0,0,585,583,1,0,0,0,586,587,7,9,0,0,587,588,3,48,24,0,588,47,1,
        0,0,0,589,591,7,7,0,0,590,589,1,0,0,0,591,594,1,0,0,0,592,590,1,
        0,0,0,592,593,1,0,0,0,593,614,1,0,0,0,594,592,1,0,0,0,595,598,7,
        10,0,0,596,598,5,52,0,0,597,595,1,0,0,0,597,596,1,0,0,0,598,603,
        1,0,0,0,599,600,5,16,0,0,600,601,3,44,22,0,601,602,5,17,0,0,602,
        604,1,0,0,0,603,599,1,0,0,0,603,604,1,0,0,0,604,615,1,0,0,0,605,
        612,5,16,0,0,606,607,5,53,0,0,607,608,5,17,0,0,608,613,3,48,24,0,
        609,610,3,44,22,0,610,611,5,17,0,0,611,613,1,0,0,0,612,606,1,0,0,
        0,612,609,1,0,0,0,613,615,1,0,0,0,614,597,1,0,0,0,614,605,1,0,0,
        0,615,49,1,0,0,0,88,53,66,78,86,98,111,115,122,132,135,138,143,148,
        154,163,168,177,180,183,188,193,197,205,208,216,220,223,229,237,
        246,250,256,261,266,272,281,293,297,301,311,314,320,322,328,338,
        346,349,352,356,363,371,374,381,394,407,417,428,440,443,446,455,
        458,461,466,470,476,483,492,498,503,511,514,519,527,541,544,550,
        553,563,566,574,577,583,592,597,603,612,614
    ]

class PtxParser ( Parser ):

    grammarFileName = "Ptx.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'.version'", "'.target'", "','", "'.address_size'", 
                     "'.file'", "'.section'", "'{'", "'}'", "'.pragma'", 
                     "';'", "'.alias'", "':'", "'+'", "'-'", "'.entry'", 
                     "'('", "')'", "'.func'", "'.reg'", "'<'", "'>'", "'='", 
                     "'.align'", "'.attribute'", "'['", "']'", "'@'", "'!'", 
                     "'.loc'", "'.loc_intermediate'", "'.branchtargets'", 
                     "'.calltargets'", "'.callprototype'", "'|'", "'~'", 
                     "'*'", "'/'", "'%'", "'<<'", "'>>'", "'<='", "'>='", 
                     "'=='", "'!='", "'&'", "'^'", "'&&'", "'||'", "'?'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "LINKAGE", "SPACE", "NAME", 
                      "DOTTED", "FLOAT", "INTEGER", "STRING", "DWARF", "SOURCES", 
                      "SPACES", "LINE_COMMENT", "BLOCK_COMMENT", "LINE_MARK", 
                      "OTHER" ]

    RULE_module = 0
    RULE_item = 1
    RULE_sectionWord = 2
    RULE_linked = 3
    RULE_entry = 4
    RULE_function = 5
    RULE_marking = 6
    RULE_directive = 7
    RULE_variables = 8
    RULE_parameter = 9
    RULE_declarator = 10
    RULE_qualifier = 11
    RULE_attributes = 12
    RULE_attribute = 13
    RULE_dimension = 14
    RULE_initializer = 15
    RULE_block = 16
    RULE_statement = 17
    RULE_registers = 18
    RULE_numbered = 19
    RULE_locationWord = 20
    RULE_operand = 21
    RULE_expression = 22
    RULE_expressionTail = 23
    RULE_expressionTerm = 24

    ruleNames =  [ "module", "item", "sectionWord", "linked", "entry", "function", 
                   "marking", "directive", "variables", "parameter", "declarator", 
                   "qualifier", "attributes", "attribute", "dimension", 
                   "initializer", "block", "statement", "registers", "numbered", 
                   "locationWord", "operand", "expression", "expressionTail", 
                   "expressionTerm" ]

    EOF = Token.EOF
    T__0=1
    T__1=2
    T__2=3
    T__3=4
    T__4=5
    T__5=6
    T__6=7
    T__7=8
    T__8=9
    T__9=10
    T__10=11
    T__11=12
    T__12=13
    T__13=14
    T__14=15
    T__15=16
    T__16=17
    T__17=18
    T__18=19
    T__19=20
    T__20=21
    T__21=22
    T__22=23
    T__23=24
    T__24=25
    T__25=26
    T__26=27
    T__27=28
    T__28=29
    T__29=30
    T__30=31
    T__31=32
    T__32=33
    T__33=34
    T__34=35
    T__35=36
    T__36=37
    T__37=38
    T__38=39
    T__39=40
    T__40=41
    T__41=42
    T__42=43
    T__43=44
    T__44=45
    T__45=46
    T__46=47
    T__47=48
    T__48=49
    LINKAGE=50
    SPACE=51
    NAME=52
    DOTTED=53
    FLOAT=54
    INTEGER=55
    STRING=56
    DWARF=57
    SOURCES=58
    SPACES=59
    LINE_COMMENT=60
    BLOCK_COMMENT=61
    LINE_MARK=62
    OTHER=63

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class ModuleContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(PtxParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ItemContext)
            else:
                return self.getTypedRuleContext(PtxParser.ItemContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_module




    def module(self):

        localctx = PtxParser.ModuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_module)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 53
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 435723263965694582) != 0):
                self.state = 50
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 55
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 56
            self.match(PtxParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_item

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VersionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.number = None # Token
            self.copyFrom(ctx)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class TargetContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class AddressSizeContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.bits = None # Token
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)


    class FileContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.index = None # Token
            self.path = None # Token
            self.stamp = None # Token
            self.size = None # Token
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)


    class SectionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.name = None # Token
            self._sectionWord = None # SectionWordContext
            self.words = list() # of SectionWordContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def sectionWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SectionWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.SectionWordContext,i)



    class DwarfContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.line = None # Token
            self.copyFrom(ctx)

        def DWARF(self):
            return self.getToken(PtxParser.DWARF, 0)


    class SourcesContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.text = None # Token
            self.copyFrom(ctx)

        def SOURCES(self):
            return self.getToken(PtxParser.SOURCES, 0)


    class ModulePragmaContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class AliasContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class ModuleRegistersContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class SymbolContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # LinkedContext
            self.copyFrom(ctx)

        def linked(self):
            return self.getTypedRuleContext(PtxParser.LinkedContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)



    def item(self):

        localctx = PtxParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 115
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                localctx = PtxParser.VersionContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 58
                self.match(PtxParser.T__0)
                self.state = 59
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 58546795155816448) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [2]:
                localctx = PtxParser.TargetContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 60
                self.match(PtxParser.T__1)
                self.state = 61
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 66
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 62
                    self.match(PtxParser.T__2)
                    self.state = 63
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 68
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [4]:
                localctx = PtxParser.AddressSizeContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 69
                self.match(PtxParser.T__3)
                self.state = 70
                localctx.bits = self.match(PtxParser.INTEGER)
                pass
            elif token in [5]:
                localctx = PtxParser.FileContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 71
                self.match(PtxParser.T__4)
                self.state = 72
                localctx.index = self.match(PtxParser.INTEGER)
                self.state = 73
                localctx.path = self.match(PtxParser.STRING)
                self.state = 78
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==3:
                    self.state = 74
                    self.match(PtxParser.T__2)
                    self.state = 75
                    localctx.stamp = self.match(PtxParser.INTEGER)
                    self.state = 76
                    self.match(PtxParser.T__2)
                    self.state = 77
                    localctx.size = self.match(PtxParser.INTEGER)


                pass
            elif token in [6]:
                localctx = PtxParser.SectionContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 80
                self.match(PtxParser.T__5)
                self.state = 81
                localctx.name = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==52 or _la==53):
                    localctx.name = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 82
                self.match(PtxParser.T__6)
                self.state = 86
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 139611588448514088) != 0):
                    self.state = 83
                    localctx._sectionWord = self.sectionWord()
                    localctx.words.append(localctx._sectionWord)
                    self.state = 88
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 89
                self.match(PtxParser.T__7)
                pass
            elif token in [57]:
                localctx = PtxParser.DwarfContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 90
                localctx.line = self.match(PtxParser.DWARF)
                pass
            elif token in [58]:
                localctx = PtxParser.SourcesContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 91
                localctx.text = self.match(PtxParser.SOURCES)
                pass
            elif token in [9]:
                localctx = PtxParser.ModulePragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 92
                self.match(PtxParser.T__8)
                self.state = 93
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 98
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 94
                    self.match(PtxParser.T__2)
                    self.state = 95
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 100
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 101
                self.match(PtxParser.T__9)
                pass
            elif token in [11]:
                localctx = PtxParser.AliasContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 102
                self.match(PtxParser.T__10)
                self.state = 103
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 104
                self.match(PtxParser.T__2)
                self.state = 105
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 106
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.ModuleRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 107
                localctx.of = self.registers()
                pass
            elif token in [15, 18, 24, 50, 51]:
                localctx = PtxParser.SymbolContext(self, localctx)
                self.enterOuterAlt(localctx, 11)
                self.state = 111
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==50:
                    self.state = 108
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 113
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 114
                localctx.of = self.linked()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SectionWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_sectionWord




    def sectionWord(self):

        localctx = PtxParser.SectionWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_sectionWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 117
            localctx.word = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 139611588448514088) != 0)):
                localctx.word = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LinkedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of_variables = None # VariablesContext
            self.of_entry = None # EntryContext
            self.of_function = None # FunctionContext

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)


        def entry(self):
            return self.getTypedRuleContext(PtxParser.EntryContext,0)


        def function(self):
            return self.getTypedRuleContext(PtxParser.FunctionContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_linked




    def linked(self):

        localctx = PtxParser.LinkedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_linked)
        try:
            self.state = 122
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [24, 51]:
                self.enterOuterAlt(localctx, 1)
                self.state = 119
                localctx.of_variables = self.variables()
                pass
            elif token in [15]:
                self.enterOuterAlt(localctx, 2)
                self.state = 120
                localctx.of_entry = self.entry()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 3)
                self.state = 121
                localctx.of_function = self.function()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EntryContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._parameter = None # ParameterContext
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_entry




    def entry(self):

        localctx = PtxParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_entry)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 124
            self.match(PtxParser.T__14)
            self.state = 125
            localctx.name = self.match(PtxParser.NAME)
            self.state = 138
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 126
                self.match(PtxParser.T__15)
                self.state = 135
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==19 or _la==51:
                    self.state = 127
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 132
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 128
                        self.match(PtxParser.T__2)
                        self.state = 129
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 134
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 137
                self.match(PtxParser.T__16)


            self.state = 143
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==53:
                self.state = 140
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 145
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 148
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 146
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 147
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._marking = None # MarkingContext
            self.before = list() # of MarkingContexts
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def marking(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.MarkingContext)
            else:
                return self.getTypedRuleContext(PtxParser.MarkingContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_function




    def function(self):

        localctx = PtxParser.FunctionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_function)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 150
            self.match(PtxParser.T__17)
            self.state = 154
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24 or _la==53:
                self.state = 151
                localctx._marking = self.marking()
                localctx.before.append(localctx._marking)
                self.state = 156
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 168
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 157
                self.match(PtxParser.T__15)
                self.state = 158
                localctx._parameter = self.parameter()
                localctx.results.append(localctx._parameter)
                self.state = 163
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 159
                    self.match(PtxParser.T__2)
                    self.state = 160
                    localctx._parameter = self.parameter()
                    localctx.results.append(localctx._parameter)
                    self.state = 165
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 166
                self.match(PtxParser.T__16)


            self.state = 170
            localctx.name = self.match(PtxParser.NAME)
            self.state = 183
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 171
                self.match(PtxParser.T__15)
                self.state = 180
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==19 or _la==51:
                    self.state = 172
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 177
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 173
                        self.match(PtxParser.T__2)
                        self.state = 174
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 179
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 182
                self.match(PtxParser.T__16)


            self.state = 188
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==53:
                self.state = 185
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 190
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 193
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 191
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 192
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MarkingContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_marking




    def marking(self):

        localctx = PtxParser.MarkingContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_marking)
        try:
            self.state = 197
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [53]:
                self.enterOuterAlt(localctx, 1)
                self.state = 195
                localctx.word = self.match(PtxParser.DOTTED)
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 196
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DirectiveContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens
            self._STRING = None # Token
            self._tset463 = None # Token
            self._tset476 = None # Token
            self.texts = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)

        def getRuleIndex(self):
            return PtxParser.RULE_directive




    def directive(self):

        localctx = PtxParser.DirectiveContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_directive)
        self._la = 0 # Token type
        try:
            self.state = 220
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [53]:
                self.enterOuterAlt(localctx, 1)
                self.state = 199
                localctx.name = self.match(PtxParser.DOTTED)
                self.state = 208
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==55 or _la==56:
                    self.state = 200
                    localctx._tset463 = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not(_la==55 or _la==56):
                        localctx._tset463 = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    localctx.values.append(localctx._tset463)
                    self.state = 205
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 201
                        self.match(PtxParser.T__2)
                        self.state = 202
                        localctx._tset476 = self._input.LT(1)
                        _la = self._input.LA(1)
                        if not(_la==55 or _la==56):
                            localctx._tset476 = self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()
                        localctx.values.append(localctx._tset476)
                        self.state = 207
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                pass
            elif token in [9]:
                self.enterOuterAlt(localctx, 2)
                self.state = 210
                self.match(PtxParser.T__8)
                self.state = 211
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 216
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 212
                    self.match(PtxParser.T__2)
                    self.state = 213
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 218
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 219
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariablesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # AttributesContext
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self._declarator = None # DeclaratorContext
            self.declared = list() # of DeclaratorContexts

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def declarator(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DeclaratorContext)
            else:
                return self.getTypedRuleContext(PtxParser.DeclaratorContext,i)


        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_variables




    def variables(self):

        localctx = PtxParser.VariablesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_variables)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 223
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==24:
                self.state = 222
                localctx.of = self.attributes()


            self.state = 225
            localctx.space = self.match(PtxParser.SPACE)
            self.state = 229
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 11258999093592064) != 0):
                self.state = 226
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 231
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 232
            localctx._declarator = self.declarator()
            localctx.declared.append(localctx._declarator)
            self.state = 237
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 233
                self.match(PtxParser.T__2)
                self.state = 234
                localctx._declarator = self.declarator()
                localctx.declared.append(localctx._declarator)
                self.state = 239
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 240
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self.of = None # DeclaratorContext

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def declarator(self):
            return self.getTypedRuleContext(PtxParser.DeclaratorContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_parameter




    def parameter(self):

        localctx = PtxParser.ParameterContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_parameter)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 242
            localctx.space = self._input.LT(1)
            _la = self._input.LA(1)
            if not(_la==19 or _la==51):
                localctx.space = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 246
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 11258999093592064) != 0):
                self.state = 243
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 248
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 250
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==52:
                self.state = 249
                localctx.of = self.declarator()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DeclaratorContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token
            self._dimension = None # DimensionContext
            self.dims = list() # of DimensionContexts
            self.init = None # InitializerContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def dimension(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DimensionContext)
            else:
                return self.getTypedRuleContext(PtxParser.DimensionContext,i)


        def initializer(self):
            return self.getTypedRuleContext(PtxParser.InitializerContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_declarator




    def declarator(self):

        localctx = PtxParser.DeclaratorContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_declarator)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 252
            localctx.name = self.match(PtxParser.NAME)
            self.state = 256
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 253
                self.match(PtxParser.T__19)
                self.state = 254
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 255
                self.match(PtxParser.T__20)


            self.state = 261
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==25:
                self.state = 258
                localctx._dimension = self.dimension()
                localctx.dims.append(localctx._dimension)
                self.state = 263
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 266
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==22:
                self.state = 264
                self.match(PtxParser.T__21)
                self.state = 265
                localctx.init = self.initializer()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class QualifierContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.bytes_ = None # Token
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_qualifier




    def qualifier(self):

        localctx = PtxParser.QualifierContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_qualifier)
        self._la = 0 # Token type
        try:
            self.state = 272
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51, 53]:
                self.enterOuterAlt(localctx, 1)
                self.state = 268
                localctx.word = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==51 or _la==53):
                    localctx.word = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [23]:
                self.enterOuterAlt(localctx, 2)
                self.state = 269
                self.match(PtxParser.T__22)
                self.state = 270
                localctx.bytes_ = self.match(PtxParser.INTEGER)
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 3)
                self.state = 271
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.each = list() # of AttributeContexts

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.AttributeContext)
            else:
                return self.getTypedRuleContext(PtxParser.AttributeContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_attributes




    def attributes(self):

        localctx = PtxParser.AttributesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_attributes)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 274
            self.match(PtxParser.T__23)
            self.state = 275
            self.match(PtxParser.T__15)
            self.state = 276
            localctx._attribute = self.attribute()
            localctx.each.append(localctx._attribute)
            self.state = 281
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 277
                self.match(PtxParser.T__2)
                self.state = 278
                localctx._attribute = self.attribute()
                localctx.each.append(localctx._attribute)
                self.state = 283
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 284
            self.match(PtxParser.T__16)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributeContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_attribute




    def attribute(self):

        localctx = PtxParser.AttributeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_attribute)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 286
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 297
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 287
                self.match(PtxParser.T__15)
                self.state = 288
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.values.append(localctx._INTEGER)
                self.state = 293
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 289
                    self.match(PtxParser.T__2)
                    self.state = 290
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 295
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 296
                self.match(PtxParser.T__16)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DimensionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.size = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_dimension




    def dimension(self):

        localctx = PtxParser.DimensionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_dimension)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 299
            self.match(PtxParser.T__24)
            self.state = 301
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==55:
                self.state = 300
                localctx.size = self.match(PtxParser.INTEGER)


            self.state = 303
            self.match(PtxParser.T__25)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class InitializerContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._initializer = None # InitializerContext
            self.parts = list() # of InitializerContexts
            self.of = None # ExpressionContext
            self.value_ = None # ExpressionContext

        def initializer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.InitializerContext)
            else:
                return self.getTypedRuleContext(PtxParser.InitializerContext,i)


        def expression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_initializer




    def initializer(self):

        localctx = PtxParser.InitializerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_initializer)
        self._la = 0 # Token type
        try:
            self.state = 322
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.enterOuterAlt(localctx, 1)
                self.state = 305
                self.match(PtxParser.T__6)
                self.state = 314
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 130604423822008448) != 0):
                    self.state = 306
                    localctx._initializer = self.initializer()
                    localctx.parts.append(localctx._initializer)
                    self.state = 311
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 307
                        self.match(PtxParser.T__2)
                        self.state = 308
                        localctx._initializer = self.initializer()
                        localctx.parts.append(localctx._initializer)
                        self.state = 313
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 316
                self.match(PtxParser.T__7)
                pass
            elif token in [13, 14, 16, 28, 35, 52, 54, 55, 56]:
                self.enterOuterAlt(localctx, 2)
                self.state = 317
                localctx.of = self.expression()
                self.state = 320
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==22:
                    self.state = 318
                    self.match(PtxParser.T__21)
                    self.state = 319
                    localctx.value_ = self.expression()


                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class BlockContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._statement = None # StatementContext
            self.statements = list() # of StatementContexts

        def statement(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.StatementContext)
            else:
                return self.getTypedRuleContext(PtxParser.StatementContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_block




    def block(self):

        localctx = PtxParser.BlockContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_block)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 324
            self.match(PtxParser.T__6)
            self.state = 328
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 7881316142416512) != 0):
                self.state = 325
                localctx._statement = self.statement()
                localctx.statements.append(localctx._statement)
                self.state = 330
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 331
            self.match(PtxParser.T__7)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StatementContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_statement

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class NamedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.name = None # Token
            self.colon = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset766 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class GuardedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.negated = None # Token
            self.guard = None # Token
            self.name = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset825 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class LocalRegistersContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class LocalContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # VariablesContext
            self.copyFrom(ctx)

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class ScopeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of_block = None # BlockContext
            self.copyFrom(ctx)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)



    class LocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self._locationWord = None # LocationWordContext
            self.words = list() # of LocationWordContexts
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def locationWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.LocationWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.LocationWordContext,i)



    class IntermediateLocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)


    class PragmaContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class BranchTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallPrototypeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)

        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)




    def statement(self):

        localctx = PtxParser.StatementContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_statement)
        self._la = 0 # Token type
        try:
            self.state = 470
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                localctx = PtxParser.NamedContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 333
                localctx.name = self.match(PtxParser.NAME)
                self.state = 352
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [12]:
                    self.state = 334
                    localctx.colon = self.match(PtxParser.T__11)
                    pass
                elif token in [7, 10, 11, 13, 14, 16, 25, 28, 35, 50, 51, 52, 53, 54, 55]:
                    self.state = 338
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0):
                        self.state = 335
                        localctx._tset766 = self._input.LT(1)
                        _la = self._input.LA(1)
                        if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0)):
                            localctx._tset766 = self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()
                        localctx.words.append(localctx._tset766)
                        self.state = 340
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    self.state = 349
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                        self.state = 341
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 346
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 342
                            self.match(PtxParser.T__2)
                            self.state = 343
                            localctx._operand = self.operand()
                            localctx.operands.append(localctx._operand)
                            self.state = 348
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 351
                    self.match(PtxParser.T__9)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [27]:
                localctx = PtxParser.GuardedContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 354
                self.match(PtxParser.T__26)
                self.state = 356
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==28:
                    self.state = 355
                    localctx.negated = self.match(PtxParser.T__27)


                self.state = 358
                localctx.guard = self.match(PtxParser.NAME)
                self.state = 359
                localctx.name = self.match(PtxParser.NAME)
                self.state = 363
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0):
                    self.state = 360
                    localctx._tset825 = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0)):
                        localctx._tset825 = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    localctx.words.append(localctx._tset825)
                    self.state = 365
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 374
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                    self.state = 366
                    localctx._operand = self.operand()
                    localctx.operands.append(localctx._operand)
                    self.state = 371
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 367
                        self.match(PtxParser.T__2)
                        self.state = 368
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 373
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 376
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.LocalRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 377
                localctx.of = self.registers()
                pass
            elif token in [24, 50, 51]:
                localctx = PtxParser.LocalContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 381
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==50:
                    self.state = 378
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 383
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 384
                localctx.of = self.variables()
                pass
            elif token in [7]:
                localctx = PtxParser.ScopeContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 385
                localctx.of_block = self.block()
                pass
            elif token in [29]:
                localctx = PtxParser.LocationContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 386
                self.match(PtxParser.T__28)
                self.state = 387
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 388
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 389
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 394
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 390
                    self.match(PtxParser.T__2)
                    self.state = 391
                    localctx._locationWord = self.locationWord()
                    localctx.words.append(localctx._locationWord)
                    self.state = 396
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [30]:
                localctx = PtxParser.IntermediateLocationContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 397
                self.match(PtxParser.T__29)
                self.state = 398
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 399
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 400
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            elif token in [9]:
                localctx = PtxParser.PragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 401
                self.match(PtxParser.T__8)
                self.state = 402
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 407
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 403
                    self.match(PtxParser.T__2)
                    self.state = 404
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 409
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 410
                self.match(PtxParser.T__9)
                pass
            elif token in [31]:
                localctx = PtxParser.BranchTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 411
                self.match(PtxParser.T__30)
                self.state = 412
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 417
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 413
                    self.match(PtxParser.T__2)
                    self.state = 414
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 419
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 420
                self.match(PtxParser.T__9)
                pass
            elif token in [32]:
                localctx = PtxParser.CallTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 422
                self.match(PtxParser.T__31)
                self.state = 423
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 428
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 424
                    self.match(PtxParser.T__2)
                    self.state = 425
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 430
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 431
                self.match(PtxParser.T__9)
                pass
            elif token in [33]:
                localctx = PtxParser.CallPrototypeContext(self, localctx)
                self.enterOuterAlt(localctx, 11)
                self.state = 433
                self.match(PtxParser.T__32)
                self.state = 446
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 434
                    self.match(PtxParser.T__15)
                    self.state = 443
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==19 or _la==51:
                        self.state = 435
                        localctx._parameter = self.parameter()
                        localctx.results.append(localctx._parameter)
                        self.state = 440
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 436
                            self.match(PtxParser.T__2)
                            self.state = 437
                            localctx._parameter = self.parameter()
                            localctx.results.append(localctx._parameter)
                            self.state = 442
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 445
                    self.match(PtxParser.T__16)


                self.state = 448
                localctx.name = self.match(PtxParser.NAME)
                self.state = 461
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 449
                    self.match(PtxParser.T__15)
                    self.state = 458
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==19 or _la==51:
                        self.state = 450
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 455
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 451
                            self.match(PtxParser.T__2)
                            self.state = 452
                            localctx._parameter = self.parameter()
                            localctx.params.append(localctx._parameter)
                            self.state = 457
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 460
                    self.match(PtxParser.T__16)


                self.state = 466
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==9 or _la==53:
                    self.state = 463
                    localctx._directive = self.directive()
                    localctx.directives.append(localctx._directive)
                    self.state = 468
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 469
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RegistersContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._DOTTED = None # Token
            self.types = list() # of Tokens
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)


        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)

        def getRuleIndex(self):
            return PtxParser.RULE_registers




    def registers(self):

        localctx = PtxParser.RegistersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_registers)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 472
            self.match(PtxParser.T__18)
            self.state = 474 
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while True:
                self.state = 473
                localctx._DOTTED = self.match(PtxParser.DOTTED)
                localctx.types.append(localctx._DOTTED)
                self.state = 476 
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if not (_la==53):
                    break

            self.state = 478
            localctx._numbered = self.numbered()
            localctx.names.append(localctx._numbered)
            self.state = 483
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 479
                self.match(PtxParser.T__2)
                self.state = 480
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 485
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 486
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_numbered




    def numbered(self):

        localctx = PtxParser.NumberedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_numbered)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 488
            localctx.name = self.match(PtxParser.NAME)
            self.state = 492
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 489
                self.match(PtxParser.T__19)
                self.state = 490
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 491
                self.match(PtxParser.T__20)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LocationWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.name = None # Token
            self.offset = None # Token
            self._INTEGER = None # Token
            self.where = list() # of Tokens

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_locationWord




    def locationWord(self):

        localctx = PtxParser.LocationWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_locationWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 494
            localctx.word = self.match(PtxParser.NAME)
            self.state = 503
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.state = 495
                localctx.name = self.match(PtxParser.NAME)
                self.state = 498
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 496
                    self.match(PtxParser.T__12)
                    self.state = 497
                    localctx.offset = self.match(PtxParser.INTEGER)


                pass
            elif token in [55]:
                self.state = 500
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 501
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 502
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class OperandContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_operand

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VectorContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.other = None # Token
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class AddressContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class TupleContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.cast = None # Token
            self.of = None # OperandContext
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SymbolicContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.first = None # Token
            self.index = None # OperandContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SignedContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.sign = None # Token
            self.of = None # OperandContext
            self.copyFrom(ctx)

        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)



    class LiteralContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.number = None # Token
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)




    def operand(self):

        localctx = PtxParser.OperandContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_operand)
        self._la = 0 # Token type
        try:
            self.state = 577
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                localctx = PtxParser.VectorContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 505
                self.match(PtxParser.T__6)
                self.state = 514
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                    self.state = 506
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 511
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 507
                        self.match(PtxParser.T__2)
                        self.state = 508
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 513
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 516
                self.match(PtxParser.T__7)
                self.state = 519
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 517
                    self.match(PtxParser.T__33)
                    self.state = 518
                    localctx.other = self.match(PtxParser.NAME)


                pass
            elif token in [25]:
                localctx = PtxParser.AddressContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 521
                self.match(PtxParser.T__24)
                self.state = 522
                localctx._operand = self.operand()
                localctx.parts.append(localctx._operand)
                self.state = 527
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 523
                    self.match(PtxParser.T__2)
                    self.state = 524
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 529
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 530
                self.match(PtxParser.T__25)
                pass
            elif token in [16]:
                localctx = PtxParser.TupleContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 532
                self.match(PtxParser.T__15)
                self.state = 553
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [53]:
                    self.state = 533
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 534
                    self.match(PtxParser.T__16)
                    self.state = 535
                    localctx.of = self.operand()
                    pass
                elif token in [7, 13, 14, 16, 17, 25, 28, 35, 52, 54, 55]:
                    self.state = 544
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                        self.state = 536
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 541
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 537
                            self.match(PtxParser.T__2)
                            self.state = 538
                            localctx._operand = self.operand()
                            localctx.parts.append(localctx._operand)
                            self.state = 543
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 546
                    self.match(PtxParser.T__16)
                    self.state = 550
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                        self.state = 547
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 552
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [52]:
                localctx = PtxParser.SymbolicContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 555
                localctx.first = self.match(PtxParser.NAME)
                self.state = 566
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [25]:
                    self.state = 556
                    self.match(PtxParser.T__24)
                    self.state = 557
                    localctx.index = self.operand()
                    self.state = 558
                    self.match(PtxParser.T__25)
                    pass
                elif token in [3, 8, 10, 12, 13, 14, 17, 20, 21, 26, 34, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49]:
                    self.state = 563
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                        self.state = 560
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 565
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [13, 14, 28, 35]:
                localctx = PtxParser.SignedContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 568
                localctx.sign = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 34628198400) != 0)):
                    localctx.sign = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 569
                localctx.of = self.operand()
                pass
            elif token in [54, 55]:
                localctx = PtxParser.LiteralContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 570
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==54 or _la==55):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 574
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                    self.state = 571
                    localctx._expressionTail = self.expressionTail()
                    localctx.tail.append(localctx._expressionTail)
                    self.state = 576
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.first = None # ExpressionTermContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_expression




    def expression(self):

        localctx = PtxParser.ExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_expression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 579
            localctx.first = self.expressionTerm()
            self.state = 583
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                self.state = 580
                localctx._expressionTail = self.expressionTail()
                localctx.tail.append(localctx._expressionTail)
                self.state = 585
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTailContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.operator = None # Token
            self.of = None # ExpressionTermContext

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_expressionTail




    def expressionTail(self):

        localctx = PtxParser.ExpressionTailContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_expressionTail)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 586
            localctx.operator = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0)):
                localctx.operator = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 587
            localctx.of = self.expressionTerm()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTermContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.s14 = None # Token
            self.signs = list() # of Tokens
            self.s13 = None # Token
            self.s35 = None # Token
            self.s28 = None # Token
            self._tset1468 = None # Token
            self.of = None # Token
            self.name = None # Token
            self.inner = None # ExpressionContext
            self.cast = None # Token
            self.casted = None # ExpressionTermContext
            self.nested = None # ExpressionContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expression(self):
            return self.getTypedRuleContext(PtxParser.ExpressionContext,0)


        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_expressionTerm




    def expressionTerm(self):

        localctx = PtxParser.ExpressionTermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_expressionTerm)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 592
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 34628198400) != 0):
                self.state = 589
                localctx._tset1468 = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 34628198400) != 0)):
                    localctx._tset1468 = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                localctx.signs.append(localctx._tset1468)
                self.state = 594
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 614
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52, 54, 55, 56]:
                self.state = 597
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [54, 55, 56]:
                    self.state = 595
                    localctx.of = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 126100789566373888) != 0)):
                        localctx.of = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [52]:
                    self.state = 596
                    localctx.name = self.match(PtxParser.NAME)
                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 603
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 599
                    self.match(PtxParser.T__15)
                    self.state = 600
                    localctx.inner = self.expression()
                    self.state = 601
                    self.match(PtxParser.T__16)


                pass
            elif token in [16]:
                self.state = 605
                self.match(PtxParser.T__15)
                self.state = 612
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [53]:
                    self.state = 606
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 607
                    self.match(PtxParser.T__16)
                    self.state = 608
                    localctx.casted = self.expressionTerm()
                    pass
                elif token in [13, 14, 16, 28, 35, 52, 54, 55, 56]:
                    self.state = 609
                    localctx.nested = self.expression()
                    self.state = 610
                    self.match(PtxParser.T__16)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





